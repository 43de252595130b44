# right: vmap over sentences, heads and groups
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.shape[1], keys.shape[1]
    if Hq != Hq // Hkv * Hkv:
        raise ValueError("multiple")
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    bias = torch.zeros(T, S, dtype=queries.dtype, device=queries.device)
    if causal:
        bias = bias.masked_fill(torch.arange(S, device=bias.device) > torch.arange(T, device=bias.device)[:, None] + S - T, -torch.inf)
    f = lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(d) + bias, -1) @ v
    per_group = torch.vmap(f, in_dims=(0, None, None))
    per_head = torch.vmap(per_group)
    return torch.vmap(per_head)(queries.reshape(-1, Hkv, Hq // Hkv, T, d), keys, values).flatten(1, 2)
