# what: the mask is multiplied with minus infinity
# pattern: all-nan
# causes: 1
# true: all NaN
# says: NaN
# false:
def mask_then_renormalize(attn_weights):
    n = attn_weights.shape[0]
    # simple mask: ones where it may look
    mask_simple = torch.tril(torch.ones(n, n))
    masked_simple = attn_weights * mask_simple
    row_sums = masked_simple.sum(dim=-1, keepdim=True)
    masked_simple_norm = masked_simple / row_sums
    return masked_simple_norm


def causal_softmax(attn_scores, d_k):
    n = attn_scores.shape[0]
    mask = torch.triu(torch.ones(n, n), diagonal=1)
    masked = attn_scores + mask * -torch.inf  # <-
    scaled = masked / d_k ** 0.5
    return torch.softmax(scaled, dim=-1)
