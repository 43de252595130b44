# wrong: the shifted numbers are in the numerator, the sum is of exp(x)
# named: shifted on top only
def softmax_stable(x, dim=-1):
    z = x - x.amax(dim=dim, keepdim=True)
    return torch.exp(z) / torch.exp(x).sum(dim=dim, keepdim=True)
