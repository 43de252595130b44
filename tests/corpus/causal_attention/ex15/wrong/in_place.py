# wrong: the caller's weights are changed in place
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if training:
        attn_weights *= (torch.rand_like(attn_weights) >= p).float()
        attn_weights /= 1 - p
    return attn_weights
