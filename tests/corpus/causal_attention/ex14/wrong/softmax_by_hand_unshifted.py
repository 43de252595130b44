# wrong: causal_softmax: right until scores are large, where exp overflows
# named: softmax not shifted
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    e = torch.exp(attn_scores / d_k**0.5).tril()
    return e / e.sum(dim=-1, keepdim=True)
