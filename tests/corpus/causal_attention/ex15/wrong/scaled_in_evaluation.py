# wrong: the old dropout, unscaled in training and times 1 - p in evaluation
# named: dropout that is not inverted
def inverted_dropout(attn_weights, p, training):
    if training:
        return attn_weights * (torch.rand_like(attn_weights) >= p)
    return attn_weights * (1 - p)
