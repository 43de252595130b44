# wrong: only dims 0 and 1 are known, a negative dim raises
# named: nothing
def softmax_stable(x, dim=-1):
    if dim == 0:
        e = torch.exp(x - x.max(0, keepdim=True)[0])
        return e / e.sum(0, keepdim=True)
    elif dim == 1:
        e = torch.exp(x - x.max(1, keepdim=True)[0])
        return e / e.sum(1, keepdim=True)
    raise ValueError("dim must be 0 or 1")
