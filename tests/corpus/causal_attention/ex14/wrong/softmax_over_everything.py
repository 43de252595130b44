# wrong: causal_softmax: exp is divided by the sum of the whole matrix
# named: softmax over everything
def mask_then_renormalize(attn_weights):
    rows = torch.zeros_like(attn_weights)
    for i in range(len(attn_weights)):
        seen = attn_weights[i, : i + 1]
        rows[i, : i + 1] = seen / seen.sum()
    return rows


def causal_softmax(attn_scores, d_k):
    visible = torch.tril(torch.ones_like(attn_scores))
    z = attn_scores / d_k**0.5
    e = torch.exp(z - z.max()) * visible
    return e / e.sum()
