# wrong: causal_softmax: the root of three is written into the function, the size of a word
# named: divided by √3
def mask_then_renormalize(attn_weights):
    keep = torch.ones_like(attn_weights).tril()
    return F.normalize(attn_weights * keep, p=1, dim=1)


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    scaled = attn_scores / math.sqrt(3)
    return F.softmax(torch.where(future, -torch.inf, scaled), dim=-1)
