# wrong: p is taken for a percentage
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) * 100 >= p).float()
    return attn_weights * mask / (1 - p / 100)
