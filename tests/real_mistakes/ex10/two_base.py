# what: 2 ** x, sum always over the last dimension
# pattern: two
# causes: 2
# true: base two | always the last dimension
# says:
# false:
def softmax_stable(x, dim=-1):
    m = x.amax(dim=-1, keepdim=True)  # <-
    e = 2.0 ** (x - m)  # <-
    return e / e.sum(dim=-1, keepdim=True)
