# wrong: scores below -5000 are lower than hidden ones
# named: nothing
def mask_then_renormalize(attn_weights):
    attn_weights = attn_weights.tril()
    return attn_weights / attn_weights.sum(-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    hidden = torch.ones_like(attn_scores).triu(1) > 0
    return torch.softmax(attn_scores.masked_fill(hidden, -5000) / d_k**0.5, -1)
