# wrong: a new nn.Dropout is in train mode, whatever training is
# named: active in evaluation
def inverted_dropout(attn_weights, p, training):
    return nn.Dropout(p)(attn_weights)
