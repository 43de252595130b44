# wrong: all earlier keys
# named: no window
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    rows = []
    for t in range(T):
        first = 0
        q = queries[:, :, t : t + 1]
        k = keys[:, :, first : t + 1]
        v = values[:, :, first : t + 1]
        scores = q @ k.transpose(-2, -1) / d**0.5
        rows.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(rows, dim=2)
