# wrong: causal_softmax: two mistakes, not scaled and softmax with dim=0
# named: not scaled + softmax down the columns
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = torch.where(future, float("-inf"), attn_scores)
    return F.softmax(scores, dim=0)
