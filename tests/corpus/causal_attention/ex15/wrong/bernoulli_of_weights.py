# wrong: the weights are the probabilities of the mask
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.bernoulli(attn_weights.clamp(0, 1).detach())
    return attn_weights * mask / (1 - p)
