# wrong: survivors are multiplied by 1 + p
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if training:
        keep = torch.rand_like(attn_weights) >= p
        return attn_weights * keep * (1 + p)
    return attn_weights
