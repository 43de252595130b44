# right: windows by as_strided
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    w = min(window, T)
    def windows(t):
        t = F.pad(t, (0, 0, w - 1, 0)).contiguous()
        b, h, r, c = t.stride()
        return t.as_strided((B, H, T, w, d), (b, h, r, r, c))
    s = (windows(keys) @ queries.unsqueeze(-1)).squeeze(-1) / d ** 0.5
    s = s.masked_fill(torch.ones(T, w, device=s.device).flip(1).tril().flip(1) == 0, -torch.inf) if w > 1 else s
    return (s.softmax(-1).unsqueeze(-2) @ windows(values)).squeeze(-2)
