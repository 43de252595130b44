# wrong: causal_softmax: sigmoid instead of softmax, so rows do not sum to one
# named: sigmoid
def mask_then_renormalize(attn_weights):
    rows = torch.zeros_like(attn_weights)
    for i in range(len(attn_weights)):
        seen = attn_weights[i, : i + 1]
        rows[i, : i + 1] = seen / seen.sum()
    return rows


def causal_softmax(attn_scores, d_k):
    gates = torch.sigmoid(attn_scores / d_k**0.5)
    return torch.tril(gates)  # sigmoid(-inf) = 0
