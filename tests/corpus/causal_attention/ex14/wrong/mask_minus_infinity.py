# wrong: mask_then_renormalize: weights are set to minus infinity as if they were scores, then divided by the sum
# named: −∞ in the weights
def mask_then_renormalize(attn_weights):
    mask = torch.triu(torch.ones_like(attn_weights), diagonal=1).bool()
    masked = attn_weights.masked_fill(mask, float("-inf"))
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[-1]
    i = torch.arange(T, device=attn_scores.device)
    scaled = attn_scores / math.sqrt(d_k)
    return F.softmax(torch.where(i[None, :] > i[:, None], -math.inf, scaled), dim=-1)
