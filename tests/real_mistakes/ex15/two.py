# what: keeps with probability p, not scaled
# pattern: two
# causes: 2
# true: p and 1 − p exchanged | survivors not scaled
# says:
# false: divide by p|keep entries with probability p and divide
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) < p).float()  # <-
    return attn_weights * mask  # <-
