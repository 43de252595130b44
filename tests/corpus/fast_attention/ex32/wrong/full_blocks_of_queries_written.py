# wrong: the loop over blocks of queries leaves out those after the last full one
# named: queries after the last full block left out, not written
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    scale = d ** -0.5
    out = torch.zeros_like(queries)
    lse = queries.new_zeros(B, H, T)
    Tr = T // block_size
    for i in range(Tr):
        r0, r1 = i * block_size, min((i + 1) * block_size, T)
        Qi = queries[:, :, r0:r1]
        mi = queries.new_full((B, H, r1 - r0), -math.inf)
        li = queries.new_zeros(B, H, r1 - r0)
        Oi = torch.zeros_like(Qi)
        for j in range(math.ceil(T / block_size)):
            c0, c1 = j * block_size, min((j + 1) * block_size, T)
            S = torch.einsum("bhid,bhjd->bhij", Qi, keys[:, :, c0:c1]) * scale
            if causal:
                rows = torch.arange(r0, r1)[:, None]
                cols = torch.arange(c0, c1)[None, :]
                S = S.masked_fill(cols > rows, -math.inf)
            m_new = torch.maximum(mi, S.max(dim=-1).values)
            P = torch.exp(S - m_new[..., None])
            corr = torch.exp(mi - m_new)
            li = corr * li + P.sum(-1)
            Oi = corr[..., None] * Oi + P @ values[:, :, c0:c1]
            mi = m_new
        out[:, :, r0:r1] = Oi / li[..., None]
        lse[:, :, r0:r1] = mi + torch.log(li)
    return out, lse
