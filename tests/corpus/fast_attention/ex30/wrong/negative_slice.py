# wrong: a slice from a negative number
# named: first windows counted from the end
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[2:]
    outputs = []
    for t in range(T):
        start = t - window + 1
        k = keys[:, :, start : t + 1]
        v = values[:, :, start : t + 1]
        scores = queries[:, :, t : t + 1] @ k.transpose(-2, -1) / math.sqrt(d)
        weights = torch.softmax(scores, dim=-1)
        outputs.append(weights @ v)
    return torch.cat(outputs, dim=2)
