# wrong: F.dropout has scaled already, and the result is divided by 1 - p again
# named: scaled twice
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    dropped = F.dropout(attn_weights, p=p, training=True)
    return dropped / (1 - p)
