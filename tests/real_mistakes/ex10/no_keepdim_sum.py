# what: keepdim forgotten in the sum
# pattern: wrong-shape
# causes: 1
# true: sum along the wrong dimension
# says:
# false:
def softmax_stable(x, dim=-1):
    m = x.amax(dim=dim, keepdim=True)
    e = torch.exp(x - m)
    return e / e.sum(dim=dim)  # <-
