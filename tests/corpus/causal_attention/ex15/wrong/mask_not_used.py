# wrong: the mask is made, but the weights are scaled without it
# named: all scaled, none dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    scale = 1 / (1 - p)
    attn_weights = attn_weights * scale
    return attn_weights
