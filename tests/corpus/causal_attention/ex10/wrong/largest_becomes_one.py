# wrong: the exponentials are divided by the largest of them, and x is not shifted
# named: largest weight 1
def softmax_stable(x, dim=-1):
    e = torch.exp(x)
    largest = e.max(dim=dim, keepdim=True).values
    return e / largest
