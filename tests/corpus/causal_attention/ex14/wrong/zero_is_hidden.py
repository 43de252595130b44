# wrong: a score of exactly 0 is taken for a hidden one
# named: nothing
def mask_then_renormalize(attn_weights):
    attn_weights = attn_weights.tril()
    return attn_weights / attn_weights.sum(-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    scores = attn_scores.tril()
    return torch.softmax(scores.masked_fill(scores == 0, float("-inf")) / d_k**0.5, -1)
