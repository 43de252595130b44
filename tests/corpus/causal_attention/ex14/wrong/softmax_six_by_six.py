# wrong: causal_softmax: a 6 x 6 mask, whatever T is
# named: six words only
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = 6
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(d_k))
    return F.softmax(scores, dim=1)
