# wrong: the maximum is added instead of subtracted
# named: largest added
def softmax_stable(x, dim=-1):
    e = torch.exp(x + x.max(dim=dim, keepdim=True)[0])
    return e / e.sum(dim=dim, keepdim=True)
