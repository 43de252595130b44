# wrong: the first mask is kept for all later calls
# named: same entries in each call
_masks = {}


def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    key = (tuple(attn_weights.shape), p)
    if key not in _masks:
        _masks[key] = (torch.rand_like(attn_weights) >= p).float() / (1 - p)
    return attn_weights * _masks[key]
