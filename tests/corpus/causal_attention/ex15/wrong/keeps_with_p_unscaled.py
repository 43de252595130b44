# wrong: two mistakes, kept with probability p and not scaled
# named: survivors not scaled + p and 1 − p exchanged
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    return attn_weights * torch.bernoulli(torch.full_like(attn_weights, p))
