# wrong: causal_softmax: divided by the number of words instead of the root of d_k
# named: divided by T
def mask_then_renormalize(attn_weights):
    rows = torch.zeros_like(attn_weights)
    for i in range(len(attn_weights)):
        seen = attn_weights[i, : i + 1]
        rows[i, : i + 1] = seen / seen.sum()
    return rows


def causal_softmax(attn_scores, d_k):
    T, _ = attn_scores.shape
    future = torch.triu(torch.ones_like(attn_scores), diagonal=1).bool()
    scores = attn_scores.masked_fill(future, float("-inf"))
    return torch.softmax(scores / T, dim=1)
