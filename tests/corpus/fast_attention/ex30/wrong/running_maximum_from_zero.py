# wrong: a running maximum that begins with 0, where scores may be far below
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    m = torch.full((B, H, T, 1), 0.0, dtype=queries.dtype, device=queries.device)
    l = torch.zeros_like(m)
    o = torch.zeros_like(values)
    for back in range(min(window, T)):
        s = (queries[:, :, back:] * keys[:, :, : T - back]).sum(-1, keepdim=True) / math.sqrt(d)
        new = torch.maximum(m[:, :, back:], s)
        a, p = torch.exp(m[:, :, back:] - new), torch.exp(s - new)
        l = torch.cat([l[:, :, :back], a * l[:, :, back:] + p], 2)
        o = torch.cat([o[:, :, :back], a * o[:, :, back:] + p * values[:, :, : T - back]], 2)
        m = torch.cat([m[:, :, :back], new], 2)
    return o / l
