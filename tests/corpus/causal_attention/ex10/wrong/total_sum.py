# wrong: the maximum along dim, but the sum of the whole tensor
# named: sum over everything
def softmax_stable(x, dim=-1):
    e = torch.exp(x - torch.amax(x, dim, keepdim=True))
    z = torch.sum(e)
    return e / z
