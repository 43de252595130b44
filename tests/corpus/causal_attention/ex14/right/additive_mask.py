# right: an additive float mask of zeros and -inf
def mask_then_renormalize(attn_weights):
    keep = torch.ones_like(attn_weights).tril()
    w = attn_weights * keep
    return w / w.sum(dim=1).unsqueeze(1)


def causal_softmax(attn_scores, d_k):
    bias = torch.full_like(attn_scores, float("-inf")).triu(diagonal=1)
    return torch.softmax(attn_scores / d_k**0.5 + bias, dim=-1)
