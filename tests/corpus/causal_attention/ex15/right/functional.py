# right: F.dropout
def inverted_dropout(attn_weights, p, training):
    return F.dropout(attn_weights, p=p, training=training)
