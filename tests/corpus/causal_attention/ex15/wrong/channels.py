# wrong: F.dropout1d drops whole rows
# named: nothing
def inverted_dropout(attn_weights, p, training):
    return F.dropout1d(attn_weights, p, training)
