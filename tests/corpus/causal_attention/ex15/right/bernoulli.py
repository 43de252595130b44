# right: torch.bernoulli with the probability to keep
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = torch.bernoulli(torch.full_like(attn_weights, 1 - p))
    return attn_weights * keep / (1 - p)
