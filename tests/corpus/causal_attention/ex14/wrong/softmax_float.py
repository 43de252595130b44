# wrong: causal_softmax: returned in float32, whatever came
# named: not the input's dtype
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(diagonal=1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1).float()
