# wrong: the exponentials are divided by their number instead of their sum
# named: divided by the count
def softmax_stable(x, dim=-1):
    n = x.size(dim)
    top = x.amax(dim).unsqueeze(dim)
    return torch.exp(x - top) / n
