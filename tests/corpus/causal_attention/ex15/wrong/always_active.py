# wrong: training is not used, drops in evaluation too
# named: active in evaluation
def inverted_dropout(attn_weights, p, training):
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p)
