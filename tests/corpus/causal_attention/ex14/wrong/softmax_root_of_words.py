# wrong: causal_softmax: the size of the scores under the root, which is the number of words
# named: divided by √T
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = torch.where(future, float("-inf"), attn_scores / math.sqrt(attn_scores.shape[-1]))
    return F.softmax(scores, dim=1)
