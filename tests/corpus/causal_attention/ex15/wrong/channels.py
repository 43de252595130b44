# wrong: F.dropout1d drops whole rows
def inverted_dropout(attn_weights, p, training):
    return F.dropout1d(attn_weights, p, training)
