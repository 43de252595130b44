# wrong: causal_softmax: scores are multiplied by tril, so the future has the score zero
# named: zeros instead of −∞
def mask_then_renormalize(attn_weights):
    w = torch.tril(attn_weights)
    return w / w.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    masked = attn_scores * torch.tril(torch.ones_like(attn_scores))
    return torch.softmax(masked / d_k**0.5, dim=-1)
