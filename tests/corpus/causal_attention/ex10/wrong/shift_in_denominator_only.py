# wrong: the shifted numbers are in the sum, the numerator is exp(x)
# named: shifted below only
def softmax_stable(x, dim=-1):
    m = x.max(dim=dim, keepdim=True).values
    denom = torch.sum(torch.exp(x - m), dim=dim, keepdim=True)
    return x.exp() / denom
