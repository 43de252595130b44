# wrong: mask_then_renormalize: the mean of a row instead of its sum
# named: divided by the mean
def mask_then_renormalize(attn_weights):
    masked = attn_weights.tril(diagonal=0)
    row_means = masked.mean(dim=-1)
    return masked / row_means[:, None]


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[-1]
    i = torch.arange(T, device=attn_scores.device)
    scaled = attn_scores / math.sqrt(d_k)
    return F.softmax(torch.where(i[None, :] > i[:, None], -math.inf, scaled), dim=-1)
