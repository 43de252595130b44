# wrong: causal_softmax: mask times minus infinity, 0 times inf is NaN
# named: all NaN
def mask_then_renormalize(attn_weights):
    context_length = attn_weights.shape[0]
    mask_simple = torch.tril(torch.ones(context_length, context_length, device=attn_weights.device))
    masked_simple = attn_weights * mask_simple
    row_sums = masked_simple.sum(dim=-1, keepdim=True)
    return masked_simple / row_sums


def causal_softmax(attn_scores, d_k):
    context_length = attn_scores.shape[0]
    mask = torch.triu(torch.ones(context_length, context_length, device=attn_scores.device), diagonal=1)
    masked = attn_scores + mask * -torch.inf
    return torch.softmax(masked / d_k**0.5, dim=-1)
