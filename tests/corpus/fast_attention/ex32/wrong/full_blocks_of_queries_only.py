# wrong: words after the last full block are left out
# named: nothing
def tiled_attention(queries, keys, values, block_size, causal=False):
    B, H, T, d = queries.shape
    rows = min(T, 64)
    outs, lses = [], []
    for n in range(T // rows):
        a, b = n * rows, (n + 1) * rows
        q = queries[:, :, a:b] / math.sqrt(d)
        m = q.new_full((B, H, b-a, 1), -torch.inf); l = torch.zeros_like(m); o = torch.zeros_like(q)
        for k0 in range(0, T, block_size):
            k1 = min(k0 + block_size, T)
            s = q @ keys[:, :, k0:k1].mT
            if causal:
                if k0 >= b: break
                s = s.masked_fill(torch.arange(k0, k1) > torch.arange(a, b)[:, None], -torch.inf)
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - new); f = torch.exp(m - new)
            l = l * f + p.sum(-1, keepdim=True); o = o * f + p @ values[:, :, k0:k1]; m = new
        outs.append(o / l); lses.append((m + l.log())[..., 0])
    return torch.cat(outs, 2), torch.cat(lses, 2)
