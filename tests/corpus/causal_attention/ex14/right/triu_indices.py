# right: triu_indices on a clone, masked after the scaling
def mask_then_renormalize(attn_weights):
    T, _ = attn_weights.shape
    i, j = torch.triu_indices(T, T, offset=1, device=attn_weights.device)
    w = attn_weights.clone()
    w[i, j] = 0.0
    return w.div(w.sum(-1, keepdim=True))


def causal_softmax(attn_scores, d_k):
    T, _ = attn_scores.shape
    i, j = torch.triu_indices(T, T, offset=1, device=attn_scores.device)
    s = attn_scores / d_k**0.5
    s[i, j] = float("-inf")
    return nn.Softmax(dim=-1)(s)
