# wrong: right numbers, but the sum is detached, so the gradient is another one
# named: nothing
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True).detach()
