# wrong: a score of exactly 0 is taken for a hidden one
# named: nothing
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1:3]
    if Hq % Hkv != 0:
        raise ValueError("the heads cannot be shared out")
    k = keys.repeat_interleave(Hq // Hkv, dim=1)
    v = values.repeat_interleave(Hq // Hkv, dim=1)
    scores = queries @ k.mT / math.sqrt(d)
    if causal:
        scores = scores.tril(S - T)
        scores = scores.masked_fill(scores == 0, -math.inf)
    return torch.softmax(scores, dim=-1) @ v
