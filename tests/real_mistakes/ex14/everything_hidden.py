# what: every score is hidden
# pattern: all-nan
# causes: 1
# true: all NaN
# says: NaN|everything|∞ alone
# false: 0 · ∞|diagonal
def mask_then_renormalize(attn_weights):
    T = attn_weights.shape[0]
    kept = torch.tril(attn_weights)
    return kept / kept.sum(dim=1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = attn_scores.shape[0]
    hidden = torch.tril(torch.ones(T, T)) < 2  # <-
    attn_scores = attn_scores.masked_fill(hidden, float("-inf"))
    return torch.softmax(attn_scores / d_k ** 0.5, dim=1)
