# right: pieces merged by their logsumexp
def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[-2:]
    output, total = torch.zeros_like(queries), queries.new_full(queries.shape[:-1], -math.inf)
    place = torch.arange(T, device=queries.device)
    for k, v, s in zip(keys.split(block_size, 2), values.split(block_size, 2), place.split(block_size)):
        scores = torch.einsum("bhtd,bhsd->bhts", queries, k) * d**-0.5
        if causal:
            scores = torch.where(s > place[:, None], -math.inf, scores)
        piece = scores.logsumexp(-1)
        weights = torch.exp(scores - torch.where(piece == -math.inf, 0.0, piece)[..., None])
        new = torch.logaddexp(total, piece)
        output = torch.exp(total - new)[..., None] * output + torch.exp(piece - new)[..., None] * (weights @ v)
        total = new
    return output, total
