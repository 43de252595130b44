# wrong: F.dropout without training, which is True by default
# named: active in evaluation
def inverted_dropout(attn_weights, p, training):
    return F.dropout(attn_weights, p)
