# wrong: right numbers, but e is divided in place, and the gradient of exp needs it as it was
# named: gradients ruined in place
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    e /= e.sum(dim=dim, keepdim=True)
    return e
