# wrong: a 6 x 6 mask, whatever the shape is
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(6, 6) >= p).float()
    return attn_weights * mask / (1 - p)
