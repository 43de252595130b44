# wrong: F.alpha_dropout, dropped entries are not zero
# named: noise instead of a mask
def inverted_dropout(attn_weights, p, training):
    return F.alpha_dropout(attn_weights, p, training)
