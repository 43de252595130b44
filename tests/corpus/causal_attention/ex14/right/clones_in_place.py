# right: in place, on clones
def mask_then_renormalize(attn_weights):
    w = attn_weights.clone()
    for i in range(w.shape[0]):
        w[i, i + 1 :] = 0
    return w / w.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    s = attn_scores.clone()
    for i in range(s.shape[0]):
        s[i, i + 1 :] = -torch.inf
    s /= d_k**0.5
    return torch.softmax(s, dim=-1)
