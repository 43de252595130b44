# wrong: the mask the other way
# named: past hidden
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    m = torch.full((B, H, T, 1), -math.inf, dtype=queries.dtype, device=queries.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(queries)
    rows = torch.arange(T, device=queries.device)[:, None]
    for start in range(0, T, block_size):
        end = min(start + block_size, T)
        k, v = keys[:, :, start:end], values[:, :, start:end]
        scores = queries @ k.transpose(-2, -1) / math.sqrt(d)
        if causal:
            columns = torch.arange(start, end, device=queries.device)
            scores = scores.masked_fill(columns < rows, -math.inf)
        m_new = torch.maximum(m, scores.max(dim=-1, keepdim=True).values)
        alpha = torch.exp(m - m_new).nan_to_num(0.0)
        p = torch.exp(scores - m_new).nan_to_num(0.0)
        l = alpha * l + p.sum(dim=-1, keepdim=True)
        o = alpha * o + p @ v
        m = m_new
    return o / l, (m + torch.log(l)).squeeze(-1)
