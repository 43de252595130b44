# right: causal_softmax: hidden by -10000, before scaling
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    future = torch.ones(T, T, dtype=torch.bool, device=attn_scores.device).triu(1)
    return F.softmax(attn_scores.masked_fill(future, -1e4) / math.sqrt(d_k), dim=1)
