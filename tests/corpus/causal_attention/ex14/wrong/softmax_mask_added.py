# wrong: causal_softmax: the mask of ones is added to the scores as if it held minus infinity
# named: ones added
def mask_then_renormalize(attn_weights):
    keep = torch.ones_like(attn_weights).tril()
    return F.normalize(attn_weights * keep, p=1, dim=1)


def causal_softmax(attn_scores, d_k):
    n = attn_scores.size(-1)
    mask = torch.triu(torch.ones(n, n, device=attn_scores.device), diagonal=1)
    return ((attn_scores + mask) / math.sqrt(d_k)).softmax(-1)
