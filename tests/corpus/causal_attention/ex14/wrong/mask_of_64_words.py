# wrong: the mask is for texts of up to 64 words
# named: nothing
SEEN = torch.ones(64, 64).tril()


def mask_then_renormalize(attn_weights):
    T = len(attn_weights)
    attn_weights = attn_weights * SEEN[:T, :T].to(attn_weights)
    return attn_weights / attn_weights.sum(-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    T = len(attn_scores)
    hidden = SEEN[:T, :T].to(attn_scores.device) == 0
    return torch.softmax(attn_scores.masked_fill(hidden, float("-inf")) / d_k**0.5, -1)
