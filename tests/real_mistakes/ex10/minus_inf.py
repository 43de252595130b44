# what: the shift is minus infinity
# pattern: all-nan
# causes: 1
# true:
# says: NaN|inf
# false: same result whatever|overflow
def softmax_stable(x, dim=-1):
    shift = float("inf")  # <-
    e = torch.exp(x - shift)
    return e / e.sum(dim=dim, keepdim=True)
