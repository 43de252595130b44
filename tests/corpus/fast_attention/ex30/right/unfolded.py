# right: all windows as views of padded keys
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    window = min(window, T)
    k = F.pad(keys, (0, 0, window - 1, 0)).unfold(2, window, 1)  # (B, H, T, d, window)
    v = F.pad(values, (0, 0, window - 1, 0)).unfold(2, window, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", queries, k) / math.sqrt(d)
    t = torch.arange(T, device=queries.device)[:, None]
    w = torch.arange(window, device=queries.device)
    scores = scores.masked_fill(t + w < window - 1, -math.inf)
    return torch.einsum("bhtw,bhtdw->bhtd", scores.softmax(-1), v)
