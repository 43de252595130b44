# wrong: rows are renormalised to one after dropping
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    dropped = attn_weights * (torch.rand_like(attn_weights) >= p)
    return dropped / (dropped.sum(dim=-1, keepdim=True) + 1e-9)
