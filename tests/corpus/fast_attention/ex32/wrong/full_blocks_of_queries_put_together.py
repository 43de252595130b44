# wrong: results of the last full block of queries are the last
# named: queries after the last full block left out
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    outs, lses = [], []
    for q0 in range(0, T - block_size + 1, block_size):
        q = queries[:, :, q0:q0 + block_size] * d ** -0.5
        n = q.shape[2]
        m = torch.full((B, H, n, 1), -math.inf, dtype=q.dtype)
        l = torch.zeros((B, H, n, 1), dtype=q.dtype)
        acc = torch.zeros(B, H, n, d, dtype=q.dtype)
        for b in range((T + block_size - 1) // block_size):
            k0 = b * block_size
            k = keys[:, :, k0:k0 + block_size]
            v = values[:, :, k0:k0 + block_size]
            s = q @ k.mT
            if causal:
                i = torch.arange(q0, q0 + n)[:, None]
                j = torch.arange(k0, k0 + k.shape[2])[None]
                s = s.masked_fill(j > i, -1e30)
            new_m = torch.maximum(m, s.max(-1, keepdim=True).values)
            p = (s - new_m).exp()
            a = (m - new_m).exp()
            l = a * l + p.sum(-1, keepdim=True)
            acc = a * acc + p @ v
            m = new_m
        outs.append(acc / l)
        lses.append((m + l.log()).squeeze(-1))
    return torch.cat(outs, 2), torch.cat(lses, 2)
