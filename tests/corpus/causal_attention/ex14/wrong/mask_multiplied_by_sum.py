# wrong: mask_then_renormalize: multiplied by the sums of the rows instead of divided
# named: multiplied by the sum
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    row_sums = masked.sum(dim=1, keepdim=True)
    return row_sums * masked


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
