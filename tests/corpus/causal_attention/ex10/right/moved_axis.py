# right: the axis is moved to the end and back, a view is returned
def softmax_stable(x, dim=-1):
    y = x.movedim(dim, -1)
    y = torch.exp(y - y.max(-1, keepdim=True)[0])
    y = y / y.sum(-1, keepdim=True)
    return y.movedim(-1, dim)
