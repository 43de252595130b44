# wrong: survivors are doubled as in the notebook's example with p = 0.5
# named: doubled
def inverted_dropout(attn_weights, p, training):
    if training:
        keep = torch.rand_like(attn_weights) >= p
        return attn_weights * keep * 2
    return attn_weights
