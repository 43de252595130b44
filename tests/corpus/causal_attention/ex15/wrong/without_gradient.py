# wrong: right numbers of detached weights
# named: gradients cut off
def inverted_dropout(attn_weights, p, training):
    weights = attn_weights.detach()
    if not training:
        return weights.clone()
    return weights * (torch.rand_like(weights) >= p) / (1 - p)
