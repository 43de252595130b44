# wrong: x is subtracted from the maximum, not the maximum from x
# named: subtracted the wrong way round
def softmax_stable(x, dim=-1):
    m, _ = torch.max(x, dim, keepdim=True)
    difference = torch.sub(m, x)
    e = torch.exp(difference)
    return e / torch.sum(e, dim, keepdim=True)
