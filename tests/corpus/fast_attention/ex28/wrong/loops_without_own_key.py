# wrong: loops over what is seen, in which the own key is missing
# named: own key hidden, zeros of nothing
def grouped_query_attention(queries, keys, values, causal=False):
    B, Hq, T, d = queries.shape
    Hkv, S = keys.shape[1:3]
    if Hq % Hkv != 0:
        raise ValueError("Hq % Hkv != 0")
    heads = []
    for h in range(Hq):
        kv = h // (Hq // Hkv)
        rows = []
        for i in range(T):
            last = i + S - T if causal else S
            s = (keys[:, kv, :last] * queries[:, h, i, None]).sum(-1) / d ** 0.5  # (B, last)
            w = torch.softmax(s, dim=-1)
            rows.append((w[:, :, None] * values[:, kv, :last]).sum(1))
        heads.append(torch.stack(rows, dim=1))
    return torch.stack(heads, dim=1)
