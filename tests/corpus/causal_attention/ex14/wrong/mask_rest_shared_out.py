# wrong: mask_then_renormalize: what is hidden of a row is added in equal parts to the visible words
# named: missing weight shared out
def mask_then_renormalize(attn_weights):
    result = torch.zeros_like(attn_weights)
    for i in range(attn_weights.shape[0]):
        hidden = attn_weights[i, i + 1 :].sum()
        for j in range(i + 1):
            result[i, j] = attn_weights[i, j] + hidden / (i + 1)
    return result


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[-1]
    i = torch.arange(T, device=attn_scores.device)
    scaled = attn_scores / math.sqrt(d_k)
    return F.softmax(torch.where(i[None, :] > i[:, None], -math.inf, scaled), dim=-1)
