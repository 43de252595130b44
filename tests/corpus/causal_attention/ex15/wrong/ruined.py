# wrong: right numbers, but the square root is changed in place, which its gradient needs
# named: gradients ruined in place
def inverted_dropout(attn_weights, p, training):
    root = torch.sqrt(attn_weights)
    result = root * root + 0 * attn_weights
    root.zero_()
    result = attn_weights + 0 * result
    if not training:
        return result
    return result * (torch.rand_like(attn_weights) >= p) / (1 - p)
