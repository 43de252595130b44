# wrong: only the past is cut off
# named: future seen
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    rows = []
    for t in range(T):
        first = max(0, t - window + 1)
        q = queries[:, :, t : t + 1]
        k = keys[:, :, first:]
        v = values[:, :, first:]
        scores = q @ k.transpose(-2, -1) / d**0.5
        rows.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(rows, dim=2)
