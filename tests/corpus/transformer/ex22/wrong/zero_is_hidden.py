# wrong: a score of exactly 0 is taken for a hidden one
# named: nothing
def padded_attention(queries, keys, values, lengths, causal=False):
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    seen = (torch.arange(keys.shape[2]) < lengths[:, None])[:, None, None].expand_as(scores)
    if causal:
        seen = seen.tril()
    scores = scores * seen
    hidden = scores == 0
    empty = hidden.all(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(hidden & ~empty, -math.inf), -1).masked_fill(empty, 0)
    return weights @ values
