# what: (1 - p) squared
# pattern: wrong-exponent
# causes: 1
# true: scaled twice
# says: \*\* 2|square
# false:
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p) ** 2  # <-
