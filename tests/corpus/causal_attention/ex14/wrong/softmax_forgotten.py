# wrong: causal_softmax: masked and scaled, but the softmax is forgotten
# named: raw scores as weights
def mask_then_renormalize(attn_weights):
    keep = torch.ones_like(attn_weights).tril()
    return F.normalize(attn_weights * keep, p=1, dim=1)


def causal_softmax(attn_scores, d_k):
    mask = torch.triu(torch.ones_like(attn_scores), diagonal=1)
    masked = attn_scores.masked_fill(mask.bool(), -torch.inf)
    attn_weights = masked / d_k**0.5
    return attn_weights
