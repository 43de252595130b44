# right: float64 inside, cast back
def mask_then_renormalize(attn_weights):
    w = attn_weights.double().tril()
    return (w / w.sum(-1, keepdim=True)).to(attn_weights.dtype)


def causal_softmax(attn_scores, d_k):
    s = attn_scores.double() / d_k**0.5
    s = s.masked_fill(torch.ones_like(s).triu(1) > 0, -torch.inf)
    return torch.softmax(s, -1).to(attn_scores.dtype)
