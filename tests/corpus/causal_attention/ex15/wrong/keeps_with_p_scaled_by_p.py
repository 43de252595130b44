# wrong: p is taken for the probability to keep, in the mask and in the scaling
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.bernoulli(torch.full_like(attn_weights, p))
    return attn_weights * mask / max(p, 1e-8)
