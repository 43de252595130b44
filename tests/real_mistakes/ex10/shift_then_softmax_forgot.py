# what: divided by the largest exponential, which is one
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | largest weight 1
# says: sum to one|sum
# false:
def softmax_stable(x, dim=-1):
    z = x - x.amax(dim=dim, keepdim=True)
    e = torch.exp(z)
    return e / e.max()  # <-
