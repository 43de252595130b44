# wrong: two mistakes, not scaled and active in evaluation
# named: survivors not scaled + active in evaluation
def inverted_dropout(attn_weights, p, training):
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask
