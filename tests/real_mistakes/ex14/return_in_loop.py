# what: return inside of the loop
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|first row|loop
# false: not renormalised|not masked
def mask_then_renormalize(attn_weights):
    result = attn_weights.clone()
    T = len(result)
    for i in range(T):
        for j in range(i + 1, T):
            result[i, j] = 0.0
        result[i] = result[i] / result[i].sum()
        return result  # <-


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    weights = torch.zeros(T, T)
    for i in range(T):
        visible = attn_scores[i, : i + 1] / math.sqrt(d_k)
        e = torch.exp(visible - visible.max())
        weights[i, : i + 1] = e / e.sum()
    return weights
