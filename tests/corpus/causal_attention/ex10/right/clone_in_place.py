# right: in place, but on a clone
def softmax_stable(x, dim=-1):
    y = x.clone()
    y -= x.max(dim=dim, keepdim=True)[0]
    e = y.exp()
    return e * (1.0 / e.sum(dim=dim, keepdim=True))
