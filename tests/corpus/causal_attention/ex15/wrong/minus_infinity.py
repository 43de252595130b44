# wrong: dropped entries become minus infinity, as for a mask before softmax
# named: −∞ for zero
def inverted_dropout(attn_weights, p, training):
    if not training:
        return attn_weights
    dropped = torch.rand_like(attn_weights) < p
    return attn_weights.masked_fill(dropped, -torch.inf) / (1 - p)
