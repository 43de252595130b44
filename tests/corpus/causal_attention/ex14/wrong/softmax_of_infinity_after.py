# wrong: causal_softmax: minus infinity is filled in after the softmax
# named: nothing
def mask_then_renormalize(attn_weights):
    w = torch.tril(attn_weights)
    return w / w.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    weights = torch.softmax(attn_scores / d_k**0.5, dim=-1)
    future = torch.ones_like(weights).triu(1).bool()
    return weights.masked_fill(future, -torch.inf)
