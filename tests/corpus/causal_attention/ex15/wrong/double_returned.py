# wrong: returned in float64, whatever came
# named: float64 returned
def inverted_dropout(attn_weights, p, training):
    weights = attn_weights.double()
    if not training:
        return weights
    return weights * (torch.rand_like(weights) >= p) / (1 - p)
