# wrong: no check, and indices that are cut off at the last head
# named: heads that do not fit accepted
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1], keys.shape[2]
    group = max(Hq // Hkv, 1)
    head = (torch.arange(Hq, device=keys.device) // group).clamp(max=Hkv - 1)
    keys = keys[:, head]
    values = values[:, head]
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d)
    if causal:
        later = torch.ones(T, S, dtype=torch.bool, device=queries.device).triu(S - T + 1)
        scores = scores.masked_fill(later, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values
