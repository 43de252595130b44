# wrong: divided by the Euclidean norm
# named: divided by the length
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return F.normalize(e, dim=dim)
