# wrong: the maximum begins with 0
# named: maximum above all scores
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    m = queries.new_full((B, H, T, 1), 0.0)
    l = queries.new_zeros(B, H, T, 1)
    o = queries.new_zeros(B, H, T, d)
    rows = torch.arange(T, device=queries.device)[:, None]
    for start in range(0, T, block_size):
        k, v = keys[:, :, start:start+block_size], values[:, :, start:start+block_size]
        s = queries @ k.mT / math.sqrt(d)
        if causal:
            s = s.masked_fill(torch.arange(start, start + k.shape[2], device=s.device) > rows, -math.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = (s - new).exp()
        f = (m - new).exp()
        l = f * l + p.sum(-1, keepdim=True)
        o = f * o + p @ v
        m = new
    return o / l, (m + l.log()).squeeze(-1)
