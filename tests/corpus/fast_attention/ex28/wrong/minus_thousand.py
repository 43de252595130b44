# wrong: hidden by -1000, which is more than many a score
# named: nothing
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1:3]
    g, rest = divmod(Hq, Hkv)
    if rest:
        raise ValueError("Hq must be a multiple of Hkv")
    q = queries.reshape(B, Hkv, g * T, d)
    scores = q.matmul(keys.transpose(-2, -1)) / d ** 0.5
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1).repeat(g, 1)
        scores = scores.masked_fill(hidden, -1000.0)
    return scores.softmax(dim=-1).matmul(values).reshape(B, Hq, T, d)
