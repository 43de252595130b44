# wrong: mask_then_renormalize: the sums of the rows are returned as a vector, nothing is divided
# named: nothing
def mask_then_renormalize(attn_weights):
    T = attn_weights.shape[0]
    return torch.stack([attn_weights[i, : i + 1].sum() for i in range(T)])


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[-1]
    i = torch.arange(T, device=attn_scores.device)
    scaled = attn_scores / math.sqrt(d_k)
    return F.softmax(torch.where(i[None, :] > i[:, None], -math.inf, scaled), dim=-1)
