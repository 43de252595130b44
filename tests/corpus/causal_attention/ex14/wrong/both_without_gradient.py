# wrong: both functions: right numbers in no_grad
# named: gradients cut off
@torch.no_grad()
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


@torch.no_grad()
def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(diagonal=1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
