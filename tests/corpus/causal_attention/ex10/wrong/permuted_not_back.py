# wrong: dim is made the last axis, and the result stays so
# named: dimension not moved back
def softmax_stable(x, dim=-1):
    dim = dim % x.dim()
    others = [i for i in range(x.dim()) if i != dim]
    y = x.permute(*others, dim)
    e = torch.exp(y - y.max(-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)
