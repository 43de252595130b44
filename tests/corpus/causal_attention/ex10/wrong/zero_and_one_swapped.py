# wrong: dim 0 is taken for 1 and 1 for 0, the default is left
# named: nothing
def softmax_stable(x, dim=-1):
    # dim 0 = rows, dim 1 = columns
    if dim == 0:
        dim = 1
    elif dim == 1:
        dim = 0
    return torch.softmax(x, dim=dim)
