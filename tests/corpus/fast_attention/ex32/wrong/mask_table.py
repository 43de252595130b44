# wrong: a mask of T by T, and float scores of T by T
# named: nothing
def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[2:]
    scores = 1.0 * queries @ keys.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1), -math.inf)
    return torch.softmax(scores, dim=-1) @ values, torch.logsumexp(scores, dim=-1)
