# wrong: queries scaled in place
# named: nothing
def sliding_window_attention(queries, keys, values, window):
    B, H, T, d = queries.shape
    outputs = []
    queries /= math.sqrt(d)
    for start in range(0, T, 256):
        end = min(start + 256, T)
        low = max(start - window + 1, 0)
        q = queries[:, :, start:end]
        k = keys[:, :, low:end]
        v = values[:, :, low:end]
        scores = q @ k.transpose(-2, -1)
        t = torch.arange(start, end, device=q.device)[:, None]
        s = torch.arange(low, end, device=q.device)
        scores = scores.masked_fill((s > t) | (s <= t - window), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        outputs.append(weights @ v)
    return torch.cat(outputs, dim=2)
