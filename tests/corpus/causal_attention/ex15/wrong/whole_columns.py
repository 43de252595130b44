# wrong: one number per column, the same for all rows
# named: whole columns
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(attn_weights.shape[-1]) >= p).float()
    return attn_weights * mask / (1 - p)
