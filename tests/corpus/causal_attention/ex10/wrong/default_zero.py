# wrong: the default of dim is 0 instead of -1
# named: first dimension by default
def softmax_stable(x, dim=0):
    e = (x - x.max(dim=dim, keepdim=True).values).exp()
    return e / e.sum(dim=dim, keepdim=True)
