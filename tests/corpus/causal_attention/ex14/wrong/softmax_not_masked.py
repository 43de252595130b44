# wrong: causal_softmax: the masked scores are not used, masked_fill's result is thrown away
# named: not masked
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    scores = attn_scores / math.sqrt(d_k)
    scores.masked_fill(future, float("-inf"))
    return F.softmax(scores, dim=1)
