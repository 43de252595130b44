# what: p is set in the notebook
# pattern: notebook-variables
# causes: 1
# true: rate 0.5
# says:
# false:
def inverted_dropout(attn_weights, p, training):
    p = 0.5  # <-
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p)
