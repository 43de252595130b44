# wrong: survivors are multiplied by 1 - p
# named: multiplied by 1 − p
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) > p).float()
    return attn_weights * mask * (1 - p)
