# wrong: mean where sum is meant
# named: divided by the mean
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True)[0])
    return e / torch.mean(e, dim=dim, keepdim=True)
