# wrong: survivors are multiplied by p
# named: multiplied by p
def inverted_dropout(attn_weights, p, training):
    if training:
        keep = torch.bernoulli(torch.full_like(attn_weights, 1 - p))
        return attn_weights * keep * p
    return attn_weights
