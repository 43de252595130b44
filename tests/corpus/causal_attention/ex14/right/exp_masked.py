# right: exponentials masked by zero and normalised, which is the same softmax
def mask_then_renormalize(attn_weights):
    lower = attn_weights - torch.triu(attn_weights, 1)
    return torch.einsum("ij,i->ij", lower, 1 / lower.sum(1))


def causal_softmax(attn_scores, d_k):
    scaled = attn_scores / d_k**0.5
    future = torch.ones_like(scaled).triu(1).bool()
    visible_max = scaled.masked_fill(future, -math.inf).amax(1, keepdim=True)
    e = torch.exp((scaled - visible_max).masked_fill(future, -math.inf))
    return e / e.sum(1, keepdim=True)
