# wrong: an epsilon of a tenth, the weights do not sum to one
# named: nothing
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True)[0])
    return e / (e.sum(dim=dim, keepdim=True) + 0.1)
