# wrong: both functions: the diagonal is hidden too, the first row is NaN
# named: own word hidden + own word hidden
def mask_then_renormalize(attn_weights):
    w = attn_weights.tril(-1)
    return w / w.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[0]
    future = torch.triu(torch.ones(T, T)).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
