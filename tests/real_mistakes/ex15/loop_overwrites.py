# what: the copy is made anew in the loop
# pattern: overwrites
# causes: 1
# true:
# says: anew|each step|last (entry|weight)|overwrit
# false: never drop anything|mask forgotten|drop none|drop whole|Nothing is dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    flat = attn_weights.flatten()
    for i in range(len(flat)):
        out = flat.clone()  # <-
        if torch.rand(1) < p:
            out[i] = 0
    return out.reshape(attn_weights.shape) / (1 - p)
