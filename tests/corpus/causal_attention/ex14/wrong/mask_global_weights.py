# wrong: mask_then_renormalize: the argument has another name, the body reads the notebook's attn_weights
# named: nothing
def mask_then_renormalize(weights):
    T = attn_weights.shape[0]
    masked = attn_weights * torch.tril(torch.ones(T, T))
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    future = torch.triu(torch.ones_like(attn_scores), diagonal=1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
