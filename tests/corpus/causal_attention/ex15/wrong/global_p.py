# wrong: the rate of the notebook's layer, called dropout, is used instead of p
# named: rate 0.5
dropout = nn.Dropout(0.5)


def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    return dropout(attn_weights)
