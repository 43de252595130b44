# right: PyTorch's own attention, some queries at a time
def sliding_window_attention(queries, keys, values, window):
    T = queries.shape[2]
    step = max(window, 64)
    pieces = []
    for a in range(0, T, step):
        b = min(a + step, T)
        c = max(a - window + 1, 0)
        i = torch.arange(a, b, device=queries.device)[:, None]
        j = torch.arange(c, b, device=queries.device)[None, :]
        seen = (j <= i) & (i - j < window)
        pieces.append(F.scaled_dot_product_attention(queries[:, :, a:b], keys[:, :, c:b], values[:, :, c:b], attn_mask=seen))
    return torch.cat(pieces, dim=2)
