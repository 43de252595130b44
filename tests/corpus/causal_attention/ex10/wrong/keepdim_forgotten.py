# wrong: keepdim forgotten, does not broadcast or broadcasts along the wrong axis
# named: largest along the wrong dimension + sum along the wrong dimension
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim).values)
    return e / e.sum(dim=dim)
