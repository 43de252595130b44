# wrong: mask_then_renormalize: the slice :i leaves the word itself out, the first row is 0/0
# named: own word hidden
def mask_then_renormalize(attn_weights):
    rows = []
    for i in range(len(attn_weights)):
        row = torch.zeros_like(attn_weights[i])
        row[:i] = attn_weights[i, :i]
        rows.append(row / row.sum())
    return torch.stack(rows)


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[0]
    future = torch.ones(T, T).triu(1) == 1
    return (attn_scores / d_k**0.5).masked_fill(future, -torch.inf).softmax(dim=-1)
