# right: keys shifted by one more in each round
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    window = min(window, T)
    scores = queries.new_full((window, B, H, T), -math.inf)
    parts = []
    for back in range(window):
        row = (queries[:, :, back:] * keys[:, :, : T - back]).sum(-1) / math.sqrt(d)
        parts.append(F.pad(row, (back, 0), value=-math.inf))
    weights = torch.softmax(torch.stack(parts), dim=0)
    result = torch.zeros_like(values)
    for back in range(window):
        result = result + weights[back][..., None] * F.pad(values[:, :, : T - back], (0, 0, back, 0))
    return result
