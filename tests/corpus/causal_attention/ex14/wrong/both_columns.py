# wrong: both functions: columns instead of rows
# named: divided by the sums of columns + softmax down the columns
def mask_then_renormalize(attn_weights):
    w = attn_weights.tril()
    return w / w.sum(dim=0, keepdim=True)


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=0)
