# wrong: keepdim forgotten in the maximum only
# named: largest along the wrong dimension
def softmax_stable(x, dim=-1):
    maxima, _ = x.max(dim=dim)
    e = torch.exp(x - maxima)
    return e / e.sum(dim=dim, keepdim=True)
