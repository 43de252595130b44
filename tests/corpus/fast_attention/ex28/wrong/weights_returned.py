# wrong: the weights are returned
# named: weights alone
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    if Hq % Hkv != 0:
        raise ValueError("Hq must be a multiple of Hkv")
    group = Hq // Hkv
    keys = keys.repeat_interleave(group, dim=1)
    values = values.repeat_interleave(group, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    if causal:
        later = torch.ones(T, S, dtype=torch.bool, device=queries.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights
