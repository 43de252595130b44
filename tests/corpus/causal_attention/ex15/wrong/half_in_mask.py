# wrong: the mask drops one half, the scaling uses p
# named: half dropped, scaled for p
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.randint(0, 2, attn_weights.shape)
    return attn_weights * mask / (1 - p)
