# wrong: nn.Dropout(0.5), the argument p is not used
# named: rate 0.5
def inverted_dropout(attn_weights, p, training):
    dropout = nn.Dropout(0.5)
    dropout.train(training)
    return dropout(attn_weights)
