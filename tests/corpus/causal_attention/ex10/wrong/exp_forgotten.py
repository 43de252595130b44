# wrong: the shifted numbers are divided by their sum, without exp
# named: without the exponential
def softmax_stable(x, dim=-1):
    shifted = x - x.max(dim, keepdim=True).values
    total = shifted.sum(dim, keepdim=True)
    return shifted / total
