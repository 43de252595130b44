# what: the weights are returned as they are
# pattern: stub-variable
# causes: 1
# true:
# says: result.*never
# false:
# follows: inactive in training
def inverted_dropout(attn_weights, p, training):
    output = attn_weights
    if training:
        mask = torch.rand_like(attn_weights) >= p
        result = attn_weights * mask / (1 - p)
    return output  # <-
