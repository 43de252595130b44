# wrong: only the mask is T by T
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    i = torch.arange(T, device=queries.device)
    mask = (i[None] > i[:, None]) | (i[None] <= i[:, None] - window)
    outputs = []
    for start in range(0, T, 256):
        end = min(start + 256, T)
        low = max(start - window + 1, 0)
        q = queries[:, :, start:end]
        k = keys[:, :, low:end]
        v = values[:, :, low:end]
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        t = torch.arange(start, end, device=q.device)[:, None]
        s = torch.arange(low, end, device=q.device)
        scores = scores.masked_fill(mask[start:end, low:end], float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        outputs.append(weights @ v)
    return torch.cat(outputs, dim=2)
