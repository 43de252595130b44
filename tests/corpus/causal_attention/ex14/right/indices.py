# right: comparing row and column numbers, the dtype's minimum
def mask_then_renormalize(attn_weights):
    t = torch.arange(attn_weights.size(0), device=attn_weights.device)
    hidden = t[None, :] > t[:, None]
    w = torch.where(hidden, torch.zeros_like(attn_weights), attn_weights)
    return F.normalize(w, p=1, dim=-1)


def causal_softmax(attn_scores, d_k):
    t = torch.arange(attn_scores.size(0), device=attn_scores.device)
    hidden = t[None, :] > t[:, None]
    smallest = torch.finfo(attn_scores.dtype).min
    return torch.softmax((attn_scores / math.sqrt(d_k)).masked_fill(hidden, smallest), dim=-1)
