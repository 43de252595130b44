# wrong: the generator is seeded in the function, the same mask at every call
# named: same entries in each call
def inverted_dropout(attn_weights, p, training):
    torch.manual_seed(123)
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p)
