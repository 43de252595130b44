# what: random numbers are made whole before the comparison
# pattern: dtype
# causes: 1
# true: everything dropped
# says: int|whole|never above
# false:
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    r = torch.rand_like(attn_weights).int()  # <-
    mask = (r >= p).float()
    return attn_weights * mask / (1 - p)
