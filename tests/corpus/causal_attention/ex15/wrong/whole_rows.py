# wrong: one number per row, so whole rows are dropped
# named: whole rows
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(*attn_weights.shape[:-1], 1) >= p).float()
    return attn_weights * mask / (1 - p)
