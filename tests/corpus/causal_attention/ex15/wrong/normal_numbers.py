# wrong: randn instead of rand, so the rate is not p
# named: randn for rand
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.randn(attn_weights.shape) > p).float()
    return attn_weights * mask / (1 - p)
