# wrong: F.alpha_dropout, dropped entries are not zero
def inverted_dropout(attn_weights, p, training):
    return F.alpha_dropout(attn_weights, p, training)
