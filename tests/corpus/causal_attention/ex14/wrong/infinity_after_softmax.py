# wrong: -inf put into the weights, after the softmax
# named: −∞ after softmax
def mask_then_renormalize(attn_weights):
    seen = torch.tril(attn_weights)
    return seen / seen.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    weights = torch.softmax(attn_scores / d_k**0.5, dim=-1)
    future = torch.triu(torch.ones_like(attn_scores), diagonal=1).bool()
    return weights.masked_fill(future, float("-inf"))
