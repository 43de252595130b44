# wrong: softmax of the softmax
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True)[0])
    p = e / e.sum(dim=dim, keepdim=True)
    return torch.softmax(p, dim=dim)
