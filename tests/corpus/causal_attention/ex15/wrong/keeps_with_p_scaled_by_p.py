# wrong: p is taken for the probability to keep, in the mask and in the scaling
# named: p as the rate of survival
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.bernoulli(torch.full_like(attn_weights, p))
    return attn_weights * mask / max(p, 1e-8)
