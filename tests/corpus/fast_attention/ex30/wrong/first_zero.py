# wrong: rows without a full window stay zero
# named: first queries left out
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    rows = []
    for t in range(T):
        if t < window - 1:
            rows.append(torch.zeros_like(queries[:, :, :1]))
            continue
        first = max(0, t - window + 1)
        q = queries[:, :, t : t + 1]
        k = keys[:, :, first : t + 1]
        v = values[:, :, first : t + 1]
        scores = q @ k.transpose(-2, -1) / d**0.5
        rows.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(rows, dim=2)
