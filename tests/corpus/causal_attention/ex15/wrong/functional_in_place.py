# wrong: F.dropout with inplace=True
# named: nothing
def inverted_dropout(attn_weights, p, training):
    return F.dropout(attn_weights, p, training, inplace=True)
