# wrong: causal_softmax calls the first function with scores, which are no weights yet
# named: scores renormalised without softmax
def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)
    return visible / visible.sum(dim=1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    return mask_then_renormalize(attn_scores / math.sqrt(d_k))
