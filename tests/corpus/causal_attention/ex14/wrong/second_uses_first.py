# wrong: causal_softmax masks after softmax and renormalises, so nothing is left of weights that are far below hidden ones
# named: renormalised after softmax
def mask_then_renormalize(attn_weights):
    masked = attn_weights * attn_weights.new_ones(attn_weights.shape).tril()
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    attn_weights = torch.softmax(attn_scores / d_k**0.5, dim=-1)
    return mask_then_renormalize(attn_weights)
