# wrong: maximum minus x
# named: sign flipped
def softmax_stable(x, dim=-1):
    z = x.max(dim=dim, keepdim=True)[0] - x
    return torch.softmax(z, dim=dim)
