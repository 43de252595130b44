# wrong: right numbers, but the weights are detached
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights.detach() * mask / (1 - p)
