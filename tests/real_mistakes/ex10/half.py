# what: computed in half precision
# pattern: dtype
# causes: 1
# true:
# says: 16-bit|precision|half
# false:
def softmax_stable(x, dim=-1):
    x = x.half()  # <-
    m = x.amax(dim=dim, keepdim=True)
    e = torch.exp(x - m)
    return e / e.sum(dim=dim, keepdim=True)
