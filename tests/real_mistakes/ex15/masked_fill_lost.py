# what: masked_fill without its underscore
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: all scaled, none dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    dropped = torch.rand(attn_weights.shape) < p
    attn_weights.masked_fill(dropped, 0.0)  # <-
    return attn_weights / (1 - p)
