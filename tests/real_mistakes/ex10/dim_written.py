# what: -1 is written out
# pattern: wrong-axis
# causes: 1
# true: always the last dimension
# says:
# false:
def softmax_stable(x, dim=-1):
    m = x.amax(dim=-1, keepdim=True)  # <-
    e = torch.exp(x - m)
    return e / e.sum(dim=-1, keepdim=True)  # <-
