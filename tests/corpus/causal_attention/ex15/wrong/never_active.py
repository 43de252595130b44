# wrong: never drops
# named: inactive in training
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = torch.ones_like(attn_weights)
    return attn_weights * mask
