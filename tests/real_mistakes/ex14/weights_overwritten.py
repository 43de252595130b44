# what: the table is made anew for every row
# pattern: overwrites
# causes: 1
# true:
# says: last row|anew|overwrit|each step
# false: not masked|past hidden
def mask_then_renormalize(attn_weights):
    result = attn_weights.clone()
    T = len(result)
    for i in range(T):
        for j in range(i + 1, T):
            result[i, j] = 0.0
        result[i] = result[i] / result[i].sum()
    return result


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    for i in range(T):
        weights = torch.zeros(T, T)  # <-
        visible = attn_scores[i, : i + 1] / math.sqrt(d_k)
        e = torch.exp(visible - visible.max())
        weights[i, : i + 1] = e / e.sum()
    return weights
