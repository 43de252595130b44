# wrong: the maximum begins with -1000, and so much is what hidden scores get
# named: maximum above all scores
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    out, lse = torch.empty_like(queries), queries.new_empty(B, H, T)
    blocks = [(a, min(a + block_size, T)) for a in range(0, T, block_size)]
    for qa, qb in reversed(blocks):
        q = queries[:, :, qa:qb] / math.sqrt(d)
        m = torch.full((B, H, qb - qa, 1), -1e3, dtype=q.dtype, device=q.device)
        acc = torch.zeros(B, H, qb - qa, d, dtype=q.dtype, device=q.device)
        l = torch.zeros_like(m)
        for ka, kb in reversed(blocks):
            if causal and ka > qb - 1:
                continue
            s = q @ keys[:, :, ka:kb].mT
            if causal and kb > qa:
                keep = torch.arange(ka, kb, device=q.device)[None, :] <= torch.arange(qa, qb, device=q.device)[:, None]
                s = s.masked_fill(~keep, -1e3)
                p_keep = keep
            else:
                p_keep = torch.ones(1, 1, dtype=torch.bool, device=q.device)
            top = torch.max(m, s.max(-1, keepdim=True)[0])
            p = torch.exp(s - top) * p_keep
            shrink = torch.exp(m - top)
            l, acc, m = l * shrink + p.sum(-1, keepdim=True), acc * shrink + p @ values[:, :, ka:kb], top
        out[:, :, qa:qb] = acc / l
        lse[:, :, qa:qb] = (m + torch.log(l))[..., 0]
    return out, lse
