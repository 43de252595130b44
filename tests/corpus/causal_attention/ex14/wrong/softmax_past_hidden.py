# wrong: causal_softmax: tril instead of triu, the past and the word itself are hidden
# named: what may be seen hidden
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).tril()
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(d_k))
    return F.softmax(scores, dim=1)
