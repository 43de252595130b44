# wrong: mask_then_renormalize: right numbers, but tril_ writes into the caller's weights
# named: nothing
def mask_then_renormalize(attn_weights):
    visible = attn_weights.tril_()
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(d_k))
    return F.softmax(scores, dim=1)
