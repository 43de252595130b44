# right: nn.Dropout in train or eval mode
def inverted_dropout(attn_weights, p, training):
    dropout = nn.Dropout(p)
    dropout.train(training)
    return dropout(attn_weights)
