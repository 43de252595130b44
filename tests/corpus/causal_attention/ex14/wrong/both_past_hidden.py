# wrong: both functions: the past is hidden instead of the future
# named: past hidden + past hidden
def mask_then_renormalize(attn_weights):
    w = attn_weights.triu()
    return w / w.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    past = torch.ones_like(attn_scores).tril(-1).bool()
    return torch.softmax(attn_scores.masked_fill(past, -torch.inf) / d_k**0.5, dim=-1)
