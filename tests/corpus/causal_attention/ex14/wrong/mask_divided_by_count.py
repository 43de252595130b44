# wrong: mask_then_renormalize: divided by the number of visible words instead of their sum
# named: divided by the number of visible words
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / torch.arange(1, len(visible) + 1).unsqueeze(1)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(d_k))
    return F.softmax(scores, dim=1)
