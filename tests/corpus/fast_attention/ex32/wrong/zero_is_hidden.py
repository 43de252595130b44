# wrong: a score of exactly 0 is taken for a hidden one
# named: nothing
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    m = torch.full((B, H, T, 1), -math.inf, dtype=queries.dtype)
    l = torch.zeros(B, H, T, 1, dtype=queries.dtype)
    o = torch.zeros_like(queries)
    for start in range(0, T, block_size):
        s = queries @ keys[:, :, start : start + block_size].mT / math.sqrt(d)
        if causal:
            s = s.tril(-start)
            s = s.masked_fill(s == 0, -math.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new)
        l = l * torch.exp(m - new) + p.sum(-1, keepdim=True)
        o = o * torch.exp(m - new) + p @ values[:, :, start : start + block_size]
        m = new
    return o / l, (m + torch.log(l)).squeeze(-1)
