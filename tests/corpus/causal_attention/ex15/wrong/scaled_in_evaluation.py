# wrong: the old dropout, unscaled in training and times 1 - p in evaluation
def inverted_dropout(attn_weights, p, training):
    if training:
        return attn_weights * (torch.rand_like(attn_weights) >= p)
    return attn_weights * (1 - p)
