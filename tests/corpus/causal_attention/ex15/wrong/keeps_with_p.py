# wrong: kept with probability p instead of 1 - p
# named: p and 1 − p exchanged
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) < p).float()
    return attn_weights * mask / (1 - p)
