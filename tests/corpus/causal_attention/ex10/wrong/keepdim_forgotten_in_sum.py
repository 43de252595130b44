# wrong: keepdim forgotten in the sum only
def softmax_stable(x, dim=-1):
    m = torch.max(x, dim=dim, keepdim=True)[0]
    e = torch.exp(x - m)
    return e / torch.sum(e, dim=dim)
