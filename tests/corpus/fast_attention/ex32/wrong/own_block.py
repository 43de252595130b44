# wrong: queries of a block see its keys alone, causal or not
# named: only its own block + all of its own block seen
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    output = torch.empty_like(queries)
    lse = queries.new_empty(B, H, T)
    for i in range(0, T, block_size):
        q = queries[:, :, i : i + block_size] / math.sqrt(d)
        n = q.shape[2]
        m = q.new_full((B, H, n), -math.inf)
        l = q.new_zeros(B, H, n)
        o = torch.zeros_like(q)
        for j in range(0, T, block_size):
            if j != i:
                continue
            s = q @ keys[:, :, j : j + block_size].mT
            new = torch.maximum(m, s.amax(-1))
            factor = torch.exp(m - new)
            p = torch.exp(s - new[..., None])
            l = factor * l + p.sum(-1)
            o = factor[..., None] * o + p @ values[:, :, j : j + block_size]
            m = new
        output[:, :, i : i + block_size] = o / l[..., None]
        lse[:, :, i : i + block_size] = m + torch.log(l)
    return output, lse
