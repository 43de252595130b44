# wrong: keepdim forgotten in the sum only
# named: sum along the wrong dimension
def softmax_stable(x, dim=-1):
    m = torch.max(x, dim=dim, keepdim=True)[0]
    e = torch.exp(x - m)
    return e / torch.sum(e, dim=dim)
