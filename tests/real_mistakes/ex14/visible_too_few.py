# what: the last visible score is left out
# pattern: off-by-one
# causes: 1
# true:
# says: own (word|score)|itself|diagonal|max\(i
# false: NaN|first row
def mask_then_renormalize(attn_weights):
    T = len(attn_weights)
    rows = []
    for i in range(T):
        row = attn_weights[i].clone()
        for j in range(i + 1, T):
            row[j] = 0.0
        row = row / row.sum()
        rows.append(row)
    return torch.stack(rows)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    weights = torch.zeros_like(attn_scores)
    for i in range(T):
        visible = attn_scores[i, : max(i, 1)] / math.sqrt(d_k)  # <-
        e = torch.exp(visible - visible.max())
        weights[i, : max(i, 1)] = e / e.sum()  # <-
    return weights
