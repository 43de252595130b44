# wrong: the window ends before the query
# named: the window before the query, zeros of nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    outs = []
    for t in range(T):
        start = max(0, t - window)
        k = keys[:, :, start:t]
        v = values[:, :, start:t]
        s = queries[:, :, t:t + 1] @ k.transpose(-2, -1) / math.sqrt(d)
        outs.append(torch.softmax(s, -1) @ v)
    return torch.cat(outs, dim=2)
