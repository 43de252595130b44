# wrong: the mask is for texts of up to 128 words
# named: nothing
SEEN = torch.ones(128, 128).tril() == 1


def grouped_query_attention(queries, keys, values, causal=False):
    Hq, T, d = queries.shape[1:]
    Hkv, S = keys.shape[1:3]
    if Hq % Hkv:
        raise ValueError(f"{Hq} heads of queries cannot share {Hkv} of keys")
    keys, values = (x.repeat_interleave(Hq // Hkv, dim=1) for x in (keys, values))
    scores = queries @ keys.mT / d**0.5
    if causal:
        scores = scores.masked_fill(~SEEN[S - T : S, :S].to(scores.device), float("-inf"))
    return torch.softmax(scores, -1) @ values
