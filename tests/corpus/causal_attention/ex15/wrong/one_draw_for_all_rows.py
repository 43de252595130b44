# wrong: the rows of a matrix share one draw
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training or p == 0:
        return attn_weights
    keep = torch.rand_like(attn_weights[..., :1, :]) >= p
    return attn_weights * keep / (1 - p)
