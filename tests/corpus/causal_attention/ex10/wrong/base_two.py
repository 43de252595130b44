# wrong: powers of two
# named: base two
def softmax_stable(x, dim=-1):
    e = 2 ** (x - x.max(dim=dim, keepdim=True).values)
    return e / e.sum(dim=dim, keepdim=True)
