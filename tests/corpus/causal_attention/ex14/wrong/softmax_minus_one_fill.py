# wrong: causal_softmax: the score of the future is set to -1
# named: −1 instead of −∞
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    hidden = torch.ones_like(attn_scores).triu(diagonal=1) == 1
    masked = attn_scores.masked_fill(hidden, -1)
    return torch.softmax(masked / d_k**0.5, dim=-1)
