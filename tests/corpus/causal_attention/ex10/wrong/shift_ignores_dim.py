# wrong: the maximum is taken along the last axis whatever dim is, so columns can become 0/0
# named: largest of the last dimension subtracted
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=-1, keepdim=True)[0])
    return e / e.sum(dim=dim, keepdim=True)
