# right: float64 inside, cast back
def softmax_stable(x, dim=-1):
    y = x.to(torch.float64)
    y = y - y.max(dim, keepdim=True).values
    return F.normalize(y.exp(), p=1, dim=dim).to(x.dtype)
