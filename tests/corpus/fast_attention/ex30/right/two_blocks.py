# right: blocks of the size of the window: each sees itself and the one before
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    w = min(window, T)
    n = -(-T // w)
    extra = n * w - T
    q, k, v = (F.pad(x, (0, 0, 0, extra)).reshape(B, H, n, w, d) for x in (queries, keys, values))
    before_k = torch.cat([torch.zeros_like(k[:, :, :1]), k[:, :, :-1]], dim=2)
    before_v = torch.cat([torch.zeros_like(v[:, :, :1]), v[:, :, :-1]], dim=2)
    kk, vv = torch.cat([before_k, k], dim=3), torch.cat([before_v, v], dim=3)  # (B, H, n, 2w, d)
    scores = q @ kk.mT / d**0.5
    i = torch.arange(w, device=q.device)[:, None] + w
    j = torch.arange(2 * w, device=q.device)[None]
    mask = (j > i) | (j <= i - w)
    scores = scores.masked_fill(mask, -math.inf)
    first = scores[:, :, :1].masked_fill(j < w, -math.inf)
    weights = torch.cat([first, scores[:, :, 1:]], dim=2).softmax(-1)
    return (weights @ vv).reshape(B, H, n * w, d)[:, :, :T]
