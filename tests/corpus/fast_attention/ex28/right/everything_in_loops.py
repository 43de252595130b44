# right: every query by itself
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1:3]
    if Hq % Hkv != 0:
        raise ValueError("no")
    out = torch.zeros_like(queries)
    for b in range(B):
        for h in range(Hq):
            g = h * Hkv // Hq
            for i in range(T):
                end = i + S - T + 1 if causal else S
                w = torch.softmax(keys[b, g, :end] @ queries[b, h, i] / math.sqrt(d), dim=0)
                out[b, h, i] = w @ values[b, g, :end]
    return out
