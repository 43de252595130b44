# right: everything transposed, columns are queries inside
def mask_then_renormalize(attn_weights):
    W = attn_weights.T.triu()
    return (W / W.sum(dim=0)).T


def causal_softmax(attn_scores, d_k):
    S = attn_scores.T / d_k**0.5
    hidden = torch.tril(torch.ones_like(S), diagonal=-1).bool()
    return torch.softmax(S.masked_fill(hidden, -torch.inf), dim=0).T
