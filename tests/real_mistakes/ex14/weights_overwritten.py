# what: the table is made anew for every row
# pattern: overwrites
# causes: 1
# true:
# says: last row|anew|overwrit|each step
# false: not masked|past hidden
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
    for i in range(T):
        weights = torch.zeros_like(attn_scores)  # <-
        visible = attn_scores[i, : i + 1] / math.sqrt(d_k)
        e = torch.exp(visible - visible.max())
        weights[i, : i + 1] = e / e.sum()
    return weights
