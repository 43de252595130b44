# wrong: causal_softmax: softmax of the softmax, which gives the future weight again
# named: applied twice
def mask_then_renormalize(attn_weights):
    masked = torch.tril(attn_weights)
    return masked / masked.sum(dim=-1, keepdim=True)


def causal_softmax(attn_scores, d_k):
    mask = torch.ones_like(attn_scores).triu(1).bool()
    weights = F.softmax(attn_scores.masked_fill(mask, -torch.inf) / math.sqrt(d_k), dim=-1)
    return weights.softmax(dim=-1)
