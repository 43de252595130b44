# wrong: computed in float64 and returned in float32, whatever came
# named: not the input's dtype
def softmax_stable(x, dim=-1):
    x = x.double()
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return (e / e.sum(dim=dim, keepdim=True)).float()
