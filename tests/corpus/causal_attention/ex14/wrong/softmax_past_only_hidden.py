# wrong: causal_softmax: the past is hidden instead of the future
# named: past hidden
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).tril(-1)
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(d_k))
    return F.softmax(scores, dim=1)
