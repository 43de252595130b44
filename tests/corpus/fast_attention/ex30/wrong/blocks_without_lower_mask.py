# wrong: blocks of queries whose windows do not move on
# named: windows that begin at their block
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
        t = torch.arange(first, last, device=q.device)[:, None]
        s = torch.arange(start, last, device=q.device)[None, :]
        mask = (s > t)
        scores = (q @ k.mT / math.sqrt(d)).masked_fill(mask, -math.inf)
        output[:, :, first:last] = scores.softmax(-1) @ v
    return output
