# wrong: the new maximum is not kept
# named: maximum not kept
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    m = torch.full((B, H, T, 1), -math.inf, dtype=queries.dtype, device=queries.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(queries)
    q_pos = torch.arange(T, device=queries.device)[:, None]
    for start in range(0, T, block_size):
        k = keys[:, :, start:start + block_size]
        v = values[:, :, start:start + block_size]
        s = queries @ k.transpose(-2, -1) / math.sqrt(d)
        if causal:
            k_pos = start + torch.arange(k.shape[2], device=queries.device)
            s = s.masked_fill(k_pos > q_pos, -math.inf)
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        alpha = torch.exp(m - m_new)
        l = alpha * l + p.sum(-1, keepdim=True)
        o = alpha * o + p @ v
    return o / l, (m + torch.log(l)).squeeze(-1)
