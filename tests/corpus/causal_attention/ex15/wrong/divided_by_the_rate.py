# wrong: a rate of 0 is divided by
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    drop = torch.bernoulli(torch.full_like(attn_weights, p))
    return attn_weights * ((1 - drop) * (p / (1 - p)) / p)
