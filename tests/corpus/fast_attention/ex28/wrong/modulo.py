# wrong: head h % Hkv in a loop
# named: keys and values over and over
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.shape[1], keys.shape[1]
    if Hq % Hkv != 0:
        raise ValueError("no multiple")
    T, S = queries.shape[2], keys.shape[2]
    mask = torch.ones(T, S, dtype=torch.bool, device=queries.device).tril(S - T) if causal else None
    outs = []
    for h in range(Hq):
        kv = h % Hkv
        outs.append(F.scaled_dot_product_attention(queries[:, h], keys[:, kv], values[:, kv], mask))
    return torch.stack(outs, 1)
