# what: train is not defined
# pattern: typo
# causes: 1
# true:
# says: NameError|`train`
# false: inputs of other sizes
def inverted_dropout(attn_weights, p, training):
    if not train:  # <-
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p)
