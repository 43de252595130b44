# wrong: dim is 0 or else taken for 1, so vectors raise and higher dims are never used
# named: rows and columns only
def softmax_stable(x, dim=-1):
    if dim == 0:
        e = torch.exp(x - x.max(0, keepdim=True).values)
        return e / e.sum(0, keepdim=True)
    else:
        e = torch.exp(x - x.max(1, keepdim=True).values)
        return e / e.sum(1, keepdim=True)
