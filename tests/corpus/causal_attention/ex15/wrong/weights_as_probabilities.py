# wrong: the small weights are dropped, not random ones
# named: small weights dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    return attn_weights * (attn_weights > p) / (1 - p)
