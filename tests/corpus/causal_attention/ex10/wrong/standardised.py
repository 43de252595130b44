# wrong: x is divided by its standard deviation first, so that nothing overflows
# named: nothing
def softmax_stable(x, dim=-1):
    z = (x - x.mean()) / x.std(unbiased=False)
    e = torch.exp(z)
    return e / e.sum(dim=dim, keepdim=True)
