# what: scaled in evaluation, randn
# pattern: two
# causes: 2
# true: scaled in evaluation | randn for rand
# says:
# false:
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights * (1 - p)  # <-
    mask = (torch.randn(attn_weights.shape) >= p).float()  # <-
    return attn_weights * mask / (1 - p)
