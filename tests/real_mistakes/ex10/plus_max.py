# what: + for -
# pattern: operator
# causes: 1
# true: largest added
# says:
# false:
def softmax_stable(x, dim=-1):
    m = x.amax(dim=dim, keepdim=True)
    e = torch.exp(x + m)  # <-
    return e / e.sum(dim=dim, keepdim=True)
