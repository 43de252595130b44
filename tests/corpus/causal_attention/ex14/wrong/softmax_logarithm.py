# wrong: causal_softmax: log_softmax instead of softmax
# named: logarithm
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    future = torch.triu(torch.ones_like(attn_scores), diagonal=1).bool()
    scores = attn_scores.masked_fill(future, -torch.inf)
    return F.log_softmax(scores / d_k**0.5, dim=-1)
