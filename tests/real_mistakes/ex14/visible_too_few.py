# what: the last visible score is left out
# pattern: off-by-one
# causes: 1
# true:
# says: own (word|score)|itself|diagonal|max\(i
# false: NaN|first row
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
    weights = torch.zeros(T, T)
    for i in range(T):
        visible = attn_scores[i, : max(i, 1)] / math.sqrt(d_k)  # <-
        e = torch.exp(visible - visible.max())
        weights[i, : max(i, 1)] = e / e.sum()  # <-
    return weights
