# right: a logsumexp in float32 whatever the inputs are, as kernels keep it
def tiled_attention(queries, keys, values, block_size, causal=False):
    """Attention block by block, without a table of all scores.

    queries, keys, values: (B, H, T, d)
    block_size: how many keys are looked at together; T need not be a multiple of it
    causal: whether query t sees the keys up to t only

    Returns the output, (B, H, T, d), and the logsumexp of the scores of each query, (B, H, T).
    """
    T, d = queries.shape[-2:]
    m = torch.full_like(queries[..., :1], -math.inf)  # (B, H, T, 1)
    l = torch.zeros_like(m)
    output = torch.zeros_like(queries)
    t = torch.arange(T, device=queries.device)
    for start in range(0, T, block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[:, :, block].mT / math.sqrt(d)  # (B, H, T, block_size)
        if causal:
            scores = scores.masked_fill(t[block] > t[:, None], -math.inf)
        new_m = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        rescale = torch.exp(m - new_m)
        p = torch.exp(scores - new_m)
        l = rescale * l + p.sum(dim=-1, keepdim=True)
        output = rescale * output + p @ values[:, :, block]
        m = new_m
    return output / l, (m + torch.log(l)).squeeze(-1).float()
