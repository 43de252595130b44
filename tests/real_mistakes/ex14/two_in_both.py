# what: not renormalised; not scaled
# pattern: two
# causes: 2
# true: not renormalised | not scaled
# says:
# false:
def mask_then_renormalize(attn_weights):
    result = attn_weights.clone()
    T = len(result)
    for i in range(T):
        for j in range(i + 1, T):
            result[i, j] = 0.0
        result[i] = result[i]  # <-
    return result


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    weights = torch.zeros(T, T)
    for i in range(T):
        visible = attn_scores[i, : i + 1]  # <-
        e = torch.exp(visible - visible.max())
        weights[i, : i + 1] = e / e.sum()
    return weights
