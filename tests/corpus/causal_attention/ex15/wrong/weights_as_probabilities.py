# wrong: the small weights are dropped, not random ones
# named: weights compared with p
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    return attn_weights * (attn_weights > p) / (1 - p)
