# wrong: right numbers without a gradient
# named: gradients cut off
def softmax_stable(x, dim=-1):
    x = x.detach()
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
