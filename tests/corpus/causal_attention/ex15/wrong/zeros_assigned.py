# wrong: zeros are written into the weights that were given
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    for index, number in enumerate(torch.rand(attn_weights.numel())):
        if number < p:
            attn_weights.view(-1)[index] = 0
    return attn_weights / (1 - p)
