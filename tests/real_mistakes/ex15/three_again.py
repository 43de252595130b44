# what: kept with p, not scaled, always
# pattern: three
# causes: 3
# true: p and 1 − p exchanged | p as the rate of survival | survivors not scaled | active in evaluation
# says:
# false:
def inverted_dropout(attn_weights, p, training):
    keep = torch.rand_like(attn_weights) < p  # <-
    dropped = attn_weights * keep  # <-
    return dropped  # <-
