# wrong: shifted by the mean, overflows when the spread is large
# named: mean subtracted
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.mean(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
