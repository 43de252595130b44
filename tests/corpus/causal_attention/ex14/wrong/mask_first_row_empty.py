# wrong: mask_then_renormalize: the slice :i leaves the word itself out, and the first row stays zero
# named: own word hidden, first row empty
def mask_then_renormalize(attn_weights):
    out = torch.zeros_like(attn_weights)
    for i, row in enumerate(attn_weights):
        past = row[:i]
        if len(past) > 0:
            out[i, :i] = past / past.sum()
    return out


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
