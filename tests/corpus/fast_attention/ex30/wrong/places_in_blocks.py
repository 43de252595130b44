# wrong: places are counted within a block
# named: places counted anew in each block
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    block = max(min(window, T), 1)
    output = torch.empty_like(queries)
    for first in range(0, T, block):
        last = min(first + block, T)
        start = max(first - window + 1, 0)
        q = queries[:, :, first:last]
        k = keys[:, :, start:last]
        v = values[:, :, start:last]
        t = torch.arange(last - first, device=q.device)[:, None]
        s = torch.arange(last - start, device=q.device)[None, :]
        mask = (s > t) | (s <= t - window)
        scores = (q @ k.mT / math.sqrt(d)).masked_fill(mask, -math.inf)
        output[:, :, first:last] = scores.softmax(-1) @ v
    return output
