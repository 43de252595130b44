# wrong: the maximum is taken along the first axis whatever dim is, so rows can become 0/0
# named: largest of the first dimension subtracted
def softmax_stable(x, dim=-1):
    biggest = x.max(dim=0)[0]
    e = (x - biggest).exp()
    total = e.sum(dim=dim, keepdim=True)
    return e / total
