# wrong: causal_softmax: the score of the future is set to -1 after scaling
# named: nothing
def mask_then_renormalize(attn_weights):
    rows = torch.zeros_like(attn_weights)
    for i in range(len(attn_weights)):
        seen = attn_weights[i, : i + 1]
        rows[i, : i + 1] = seen / seen.sum()
    return rows


def causal_softmax(attn_scores, d_k):
    scaled = attn_scores / math.sqrt(d_k)
    for i in range(scaled.shape[0]):
        scaled[i, i + 1 :] = -1.0
    return F.softmax(scaled, dim=-1)
