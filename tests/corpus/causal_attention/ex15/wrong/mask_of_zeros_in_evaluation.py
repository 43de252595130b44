# wrong: the mask begins as zeros and is filled in training only, so evaluation returns zeros
# named: zeros in evaluation
def inverted_dropout(attn_weights, p, training):
    mask = torch.zeros_like(attn_weights)
    if training:
        mask[torch.rand_like(attn_weights) > p] = 1 / (1 - p)
    return attn_weights * mask
