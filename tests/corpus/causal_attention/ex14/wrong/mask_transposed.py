# wrong: mask_then_renormalize: the result is transposed
# named: result transposed
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    columns = [visible[i] / visible[i].sum() for i in range(len(visible))]
    return torch.stack(columns, dim=1)


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
