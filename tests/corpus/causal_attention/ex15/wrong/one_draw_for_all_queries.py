# wrong: the queries of each matrix in a batch share one draw
# named: nothing
def inverted_dropout(attn_weights, p, training):
    if not training or p == 0:
        return attn_weights
    which = attn_weights if attn_weights.dim() < 3 else attn_weights[..., :1, :]
    return attn_weights * (torch.rand_like(which) >= p) / (1 - p)
