# what: the argument is called axis
# pattern: typo
# causes: 1
# true:
# says: NameError|`axis`
# false: inputs of other sizes
def softmax_stable(x, dim=-1):
    m = x.amax(dim=axis, keepdim=True)  # <-
    e = torch.exp(x - m)
    return e / e.sum(dim=axis, keepdim=True)  # <-
