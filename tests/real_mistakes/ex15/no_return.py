# what: nothing is returned in evaluation
# pattern: no-return
# causes: 1
# true:
# says: evaluation|None
# false: zeros in evaluation|inputs of other sizes
def inverted_dropout(attn_weights, p, training):
    if training:
        mask = (torch.rand_like(attn_weights) >= p).float()
        return attn_weights * mask / (1 - p)
    attn_weights  # <-
