# wrong: large values are clamped, so they become equal
# named: cut off
def softmax_stable(x, dim=-1):
    x = torch.clamp(x, min=-50, max=50)
    e = torch.exp(x)
    return e / torch.sum(e, dim=dim, keepdim=True)
