# what: brackets are missing: / 1 - p
# pattern: operator
# causes: 1
# true:
# says: bracket|subtract|- p
# false: Survivors keep
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / 1 - p  # <-
