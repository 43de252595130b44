# wrong: causal_softmax: a default of eight for d_k, and the argument is not used
# named: divided by √8
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    def scaled_softmax(scores, size=8):
        return torch.softmax(scores / size**0.5, dim=-1)

    causal_mask = torch.full_like(attn_scores, -torch.inf).triu(1)
    return scaled_softmax(attn_scores + causal_mask)
