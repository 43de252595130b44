# right: a very low number for −∞
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    low = -1e30
    m = torch.full_like(queries[..., 0], low)
    l = torch.zeros_like(m)
    o = torch.zeros_like(queries)
    for start in range(0, T, block_size):
        stop = start + block_size
        s = torch.matmul(queries, keys[..., start:stop, :].transpose(-1, -2)) / d**0.5
        if causal:
            i = torch.arange(T, device=s.device).view(-1, 1)
            j = torch.arange(start, start + s.shape[-1], device=s.device).view(1, -1)
            s = s.masked_fill(j > i, low)
        old, m = m, torch.maximum(m, s.max(-1).values)
        p = (s - m.unsqueeze(-1)).exp()
        c = (old - m).exp()
        l = l * c + p.sum(-1)
        o = o * c.unsqueeze(-1) + torch.matmul(p, values[..., start:stop, :])
    return o / l.unsqueeze(-1), m + l.log()
