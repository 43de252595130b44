# wrong: both functions: right numbers, but the caller's tensors are changed
# named: nothing
def mask_then_renormalize(attn_weights):
    attn_weights *= torch.tril(torch.ones_like(attn_weights))
    attn_weights /= attn_weights.sum(dim=-1, keepdim=True)
    return attn_weights


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(1).bool()
    attn_scores[future] = -torch.inf
    return torch.softmax(attn_scores / d_k**0.5, dim=-1)
