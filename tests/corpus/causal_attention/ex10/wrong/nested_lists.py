# wrong: right numbers, but as nested lists
# named: a list returned
def softmax_stable(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return (e / e.sum(dim, keepdim=True)).tolist()
