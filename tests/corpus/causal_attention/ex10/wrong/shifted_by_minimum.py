# wrong: shifted by the minimum, overflows
# named: smallest subtracted
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.min(dim=dim, keepdim=True).values)
    return e / e.sum(dim=dim, keepdim=True)
