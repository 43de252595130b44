# wrong: right numbers in float64, whatever came
# named: float64 returned
def softmax_stable(x, dim=-1):
    x = x.to(torch.float64)
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
