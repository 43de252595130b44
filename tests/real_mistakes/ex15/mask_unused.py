# what: the mask is drawn and not used
# pattern: unused-result
# causes: 1
# true:
# says: mask.*never
# false:
# follows: all scaled, none dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.bernoulli(torch.full_like(attn_weights, 1 - p))
    return attn_weights / (1 - p)  # <-
