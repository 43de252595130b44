# what: not renormalised; not scaled
# pattern: two
# causes: 2
# true: not renormalised | not scaled
# says:
# false:
def mask_then_renormalize(attn_weights):
    T = len(attn_weights)
    rows = []
    for i in range(T):
        row = attn_weights[i].clone()
        for j in range(i + 1, T):
            row[j] = 0.0
        rows.append(row)  # <-
    return torch.stack(rows)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    weights = torch.zeros_like(attn_scores)
    for i in range(T):
        visible = attn_scores[i, : i + 1]  # <-
        e = torch.exp(visible - visible.max())
        weights[i, : i + 1] = e / e.sum()
    return weights
