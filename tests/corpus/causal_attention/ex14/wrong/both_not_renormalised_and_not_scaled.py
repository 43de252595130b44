# wrong: both functions: not renormalised, and not scaled
# named: not renormalised + not scaled
def mask_then_renormalize(attn_weights):
    return attn_weights * torch.tril(torch.ones_like(attn_weights))


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf), dim=-1)
