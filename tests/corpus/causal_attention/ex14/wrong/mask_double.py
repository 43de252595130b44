# wrong: mask_then_renormalize: the mask makes everything float64
# named: float64 returned
def mask_then_renormalize(attn_weights):
    T = attn_weights.shape[0]
    masked = attn_weights * torch.tril(torch.ones(T, T, dtype=torch.float64, device=attn_weights.device))
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(diagonal=1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
