# wrong: F.dropout without training, which is True by default
def inverted_dropout(attn_weights, p, training):
    return F.dropout(attn_weights, p)
