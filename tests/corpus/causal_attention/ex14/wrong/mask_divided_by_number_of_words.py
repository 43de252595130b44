# wrong: mask_then_renormalize: divided by the number of all words instead of the sum of the row
# named: divided by the number of words
def mask_then_renormalize(attn_weights):
    n_words = attn_weights.size(0)
    visible = attn_weights * torch.tril(torch.ones_like(attn_weights))
    return torch.div(visible, n_words)


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
