# wrong: the survivors are not scaled
# named: survivors not scaled
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask
