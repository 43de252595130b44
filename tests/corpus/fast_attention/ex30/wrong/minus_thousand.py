# wrong: hidden by -1000, which is more than many a score
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    w = min(window, T)
    idx = torch.arange(T, device=queries.device).unsqueeze(1) - torch.arange(w, device=queries.device)
    valid = idx >= 0
    idx = idx.clamp(min=0)
    s = (queries.unsqueeze(3) * keys[:, :, idx]).sum(-1) * d ** -0.5
    s = torch.where(valid, s, -1000.0)
    p = F.softmax(s, dim=-1)
    return (p.unsqueeze(-2) @ values[:, :, idx]).squeeze(-2)
