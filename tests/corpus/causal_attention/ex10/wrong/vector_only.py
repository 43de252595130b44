# wrong: written for a vector, a matrix is flattened
# named: nothing
def softmax_stable(x, dim=-1):
    x = x.flatten()
    e = torch.exp(x - max(x))
    return e / sum(e)
