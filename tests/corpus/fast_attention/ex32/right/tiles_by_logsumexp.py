# right: each tile has a logsumexp, by which they are joined
def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[-2:]
    def tile(i, j):
        q, k, v = queries[:, :, i:i + block_size], keys[:, :, j:j + block_size], values[:, :, j:j + block_size]
        s = q @ k.mT / math.sqrt(d)
        if causal:
            a = torch.arange(q.shape[2], device=q.device)[:, None] + i
            s = torch.where(torch.arange(k.shape[2], device=q.device) + j <= a, s, -math.inf)
        z = s.logsumexp(-1, keepdim=True)
        return (s - z.masked_fill(z.isinf(), 0)).exp() @ v, z
    outs, lses = [], []
    for i in range(0, T, block_size):
        o, z = tile(i, 0)
        for j in range(block_size, min(i + block_size, T) if causal else T, block_size):
            o2, z2 = tile(i, j)
            new = torch.logaddexp(z, z2)
            o, z = o * (z - new).exp() + o2 * (z2 - new).exp(), new
        outs.append(o); lses.append(z[..., 0])
    return torch.cat(outs, 2), torch.cat(lses, 2)
