# what: randn, multiplied by 1 - p, active in evaluation
# pattern: three
# causes: 3
# true: randn for rand | multiplied by 1 − p | active in evaluation
# says:
# false:
def inverted_dropout(attn_weights, p, training):
    mask = (torch.randn(attn_weights.shape) >= p).float()  # <-
    if training:
        return attn_weights * mask * (1 - p)  # <-
    return attn_weights * mask  # <-
