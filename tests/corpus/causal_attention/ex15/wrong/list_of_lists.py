# wrong: right numbers, but in lists
# named: a list returned
def inverted_dropout(attn_weights, p, training):
    drop = torch.nn.Dropout(p)
    drop.train(training)
    return drop(attn_weights).tolist()
