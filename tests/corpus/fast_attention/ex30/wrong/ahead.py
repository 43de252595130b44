# wrong: t … t + window - 1
# named: windows ahead
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    rows = []
    for t in range(T):
        scores = queries[:, :, t : t + 1] @ keys[:, :, t : t + window].transpose(-2, -1) / d**0.5
        rows.append(torch.softmax(scores, dim=-1) @ values[:, :, t : t + window])
    return torch.cat(rows, dim=2)
