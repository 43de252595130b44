# wrong: words after the last full block are left out
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    rows = min(T, 64)
    outs = []
    for n in range(T // rows):
        a, b = n * rows, (n + 1) * rows
        lo = max(0, a - window + 1)
        s = queries[:, :, a:b] @ keys[:, :, lo:b].transpose(-2, -1) / math.sqrt(d)
        t = torch.arange(a, b)[:, None]; u = torch.arange(lo, b)
        s = s.masked_fill((u > t) | (u <= t - window), -torch.inf)
        outs.append(s.softmax(-1) @ values[:, :, lo:b])
    return torch.cat(outs, 2)
