# what: one draw for each row
# pattern: wrong-axis
# causes: 1
# true: whole rows
# says: [Ww]hole rows
# false:
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(attn_weights.shape[0], 1) >= p).float()  # <-
    return attn_weights * mask / (1 - p)
