# wrong: survivors become 1/(1-p), the weights are lost
# named: the mask returned
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    return torch.where(torch.rand_like(attn_weights) < p, 0 * attn_weights, torch.ones_like(attn_weights) / (1 - p))
