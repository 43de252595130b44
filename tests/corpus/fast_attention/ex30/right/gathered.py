# right: places of all windows, looked up
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.size(-2), queries.size(-1)
    offsets = torch.arange(min(window, T), device=queries.device)
    places = torch.arange(T, device=queries.device).unsqueeze(1) - offsets  # (T, w), the query's own first
    missing = places < 0
    places = places.clamp(min=0)
    k, v = keys[:, :, places], values[:, :, places]  # (B, H, T, w, d)
    scores = (queries.unsqueeze(3) * k).sum(-1) * d**-0.5
    scores = torch.where(missing, -torch.inf, scores)
    weights = F.softmax(scores, dim=-1)
    return (weights.unsqueeze(-1) * v).sum(3)
