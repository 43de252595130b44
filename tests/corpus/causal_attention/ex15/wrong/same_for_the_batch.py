# wrong: one mask for all matrices of a batch
# named: one mask for a batch
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand(attn_weights.shape[-2:]) >= p).float()
    return attn_weights * mask / (1 - p)
