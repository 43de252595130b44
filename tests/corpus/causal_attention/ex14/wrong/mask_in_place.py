# wrong: mask_then_renormalize: right numbers, but the gradient of sigmoid needs what is changed in place
# named: gradients ruined in place
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    gate = torch.sigmoid(masked)
    result = masked / masked.sum(dim=-1, keepdim=True) + gate - gate
    gate.mul_(0)
    return result


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores).triu(diagonal=1).bool()
    return torch.softmax(attn_scores.masked_fill(future, -torch.inf) / d_k**0.5, dim=-1)
