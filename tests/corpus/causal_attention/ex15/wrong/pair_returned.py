# wrong: the weights and the mask are returned
# named: nothing
def inverted_dropout(attn_weights, p, training):
    mask = (torch.rand_like(attn_weights) >= p) if training else torch.ones_like(attn_weights)
    scale = 1 / (1 - p) if training else 1
    return attn_weights * mask * scale, mask
