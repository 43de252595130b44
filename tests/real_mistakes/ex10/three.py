# what: minimum, first dimension, log
# pattern: three
# causes: 3
# true: smallest subtracted | always the first dimension | logarithm
# says:
# false:
def softmax_stable(x, dim=-1):
    m = x.amin(dim=0, keepdim=True)  # <-
    e = torch.exp(x - m)
    p = e / e.sum(dim=0, keepdim=True)  # <-
    return torch.log(p)  # <-
