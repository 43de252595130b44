# what: keepdim forgotten in the maximum
# pattern: wrong-shape
# causes: 1
# true: largest along the wrong dimension
# says:
# false:
def softmax_stable(x, dim=-1):
    m = x.max(dim=dim).values  # <-
    e = torch.exp(x - m)
    return e / e.sum(dim=dim, keepdim=True)
