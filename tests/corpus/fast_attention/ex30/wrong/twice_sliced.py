# wrong: softmax twice in a slice
# named: softmax twice in each window
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    rows = []
    for t in range(T):
        first = max(0, t - window + 1)
        q = queries[:, :, t : t + 1]
        k = keys[:, :, first : t + 1]
        v = values[:, :, first : t + 1]
        scores = q @ k.transpose(-2, -1) / d**0.5
        rows.append(scores.softmax(-1).softmax(-1) @ v)
    return torch.cat(rows, dim=2)
