# wrong: the log of the weights is returned
# named: logarithm
def softmax_stable(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    p = e / e.sum(dim, keepdim=True)
    return torch.log(p)
