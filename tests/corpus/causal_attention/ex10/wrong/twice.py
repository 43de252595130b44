# wrong: softmax of the softmax
# named: applied twice
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True)[0])
    p = e / e.sum(dim=dim, keepdim=True)
    return torch.softmax(p, dim=dim)
