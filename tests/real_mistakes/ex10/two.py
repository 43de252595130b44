# what: no shift, sum over everything
# pattern: two
# causes: 2
# true: not shifted | sum over everything | softmax over everything
# says:
# false:
def softmax_stable(x, dim=-1):
    e = torch.exp(x)  # <-
    return e / e.sum()  # <-
