# wrong: only the survivors are returned, flat
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    keep = torch.rand_like(attn_weights) >= p
    return attn_weights[keep] / (1 - p)
