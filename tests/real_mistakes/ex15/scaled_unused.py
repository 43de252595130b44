# what: the scaled weights are not returned
# pattern: unused-result
# causes: 1
# true:
# says: scaled.*never
# false:
# follows: survivors not scaled
def inverted_dropout(attn_weights, p, training):
    if training == False:
        return attn_weights
    keep = (torch.rand(attn_weights.shape) > p).float()
    dropped = attn_weights * keep
    scaled = dropped / (1.0 - p)
    return dropped  # <-
