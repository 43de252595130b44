# wrong: causal_softmax: the mask of ones is added to the scaled scores as if it held minus infinity
# named: nothing
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    scores = attn_scores / d_k**0.5
    scores = scores + torch.triu(torch.ones_like(scores), diagonal=1)
    return torch.softmax(scores, dim=-1)
