# wrong: mask_then_renormalize: -inf and softmax on weights, so softmax is applied twice
# named: softmax of the weights
def mask_then_renormalize(attn_weights):
    future = torch.ones_like(attn_weights).triu(1).bool()
    return torch.softmax(attn_weights.masked_fill(future, -torch.inf), dim=-1)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(d_k))
    return F.softmax(scores, dim=1)
