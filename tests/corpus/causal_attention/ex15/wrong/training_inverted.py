# wrong: drops in evaluation, not in training
# named: training and evaluation exchanged
def inverted_dropout(attn_weights, p, training):
    if training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p)
