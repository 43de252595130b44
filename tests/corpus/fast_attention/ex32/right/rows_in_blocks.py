# right: blocks of queries alone, each with all its keys
def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[2:]
    outputs, sums = [], []
    for start in range(0, T, block_size):
        q = queries[:, :, start : start + block_size]
        scores = q @ keys.mT / d**0.5
        if causal:
            t = torch.arange(start, start + q.shape[2], device=q.device)[:, None]
            scores = scores.masked_fill(torch.arange(T, device=q.device) > t, -math.inf)
        outputs.append(torch.softmax(scores, dim=-1) @ values)
        sums.append(torch.logsumexp(scores, dim=-1))
    return torch.cat(outputs, dim=2), torch.cat(sums, dim=2)
