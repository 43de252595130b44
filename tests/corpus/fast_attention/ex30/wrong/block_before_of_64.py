# wrong: a window sees one block of 64 words before its own
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[2:]
    outputs = []
    for first in range(0, T, 64):
        last, start = min(first + 64, T), max(first - 64, 0)
        scores = queries[:, :, first:last] @ keys[:, :, start:last].mT / d**0.5
        t, s = torch.arange(first, last)[:, None], torch.arange(start, last)
        hidden = ((s > t) | (s <= t - window)).to(scores.device)
        weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), -1)
        outputs.append(weights @ values[:, :, start:last])
    return torch.cat(outputs, dim=2)
