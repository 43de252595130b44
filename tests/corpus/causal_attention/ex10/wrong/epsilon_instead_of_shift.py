# wrong: an epsilon in the denominator instead of the shift
# named: epsilon instead of a shift
def softmax_stable(x, dim=-1):
    e = torch.exp(x)
    return e / (e.sum(dim=dim, keepdim=True) + 1e-8)
