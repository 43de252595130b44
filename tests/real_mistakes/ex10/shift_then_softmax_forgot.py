# what: divided by the largest exponential, which is one
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | divided by the largest at the end
# says: sum to one|sum
# false:
def softmax_stable(x, dim=-1):
    z = x - x.amax(dim=dim, keepdim=True)
    e = torch.exp(z)
    return e / e.max()  # <-
