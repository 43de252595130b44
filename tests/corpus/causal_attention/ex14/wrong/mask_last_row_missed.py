# wrong: mask_then_renormalize: off by one, the last row is not filled
# named: nothing
def mask_then_renormalize(attn_weights):
    T = attn_weights.shape[0]
    out = torch.zeros(T, T)
    for i in range(T - 1):
        out[i, : i + 1] = attn_weights[i, : i + 1] / attn_weights[i, : i + 1].sum()
    return out


def causal_softmax(attn_scores, d_k):
    future = torch.triu(torch.ones_like(attn_scores), diagonal=1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
