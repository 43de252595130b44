# wrong: random numbers below 1 are made integers, which are all 0, so everything is dropped
# named: everything dropped
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.rand_like(attn_weights).int()
    return attn_weights * mask / (1 - p)
