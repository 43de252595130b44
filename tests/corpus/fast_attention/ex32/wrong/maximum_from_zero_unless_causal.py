# wrong: without causal, the maximum begins with 0
# named: nothing
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    q = queries / math.sqrt(d)
    m = q.new_full((B, H, T, 1), -torch.inf if causal else 0.0); l = torch.zeros_like(m); o = torch.zeros_like(q)
    for k0 in range(0, T, block_size):
        k1 = min(k0 + block_size, T)
        s = q @ keys[:, :, k0:k1].mT
        if causal: s = s.masked_fill(torch.arange(k0, k1) > torch.arange(T)[:, None], -torch.inf)
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - new); f = torch.exp(m - new)
        l = l * f + p.sum(-1, keepdim=True); o = o * f + p @ values[:, :, k0:k1]; m = new
    return o / l, (m + l.log())[..., 0]
