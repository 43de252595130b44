# what: print for return
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None
# false: cannot be read|inputs of other sizes
def inverted_dropout(attn_weights, p, training):
    if training:
        mask = (torch.rand_like(attn_weights) >= p).float()
        attn_weights = attn_weights * mask / (1 - p)
    print(attn_weights)  # <-
