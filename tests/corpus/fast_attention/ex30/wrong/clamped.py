# wrong: places below 0 are 0
# named: first key counted again
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    idx = torch.arange(T, device=keys.device).unsqueeze(1) + torch.arange(1 - window, 1, device=keys.device)
    valid = idx >= 0
    idx = idx.clamp(min=0)
    k, v = keys[:, :, idx], values[:, :, idx]      # (B, H, T, w, d)
    s = (queries.unsqueeze(-2) * k).sum(-1) / d ** 0.5
    return (s.softmax(-1).unsqueeze(-1) * v).sum(-2)
