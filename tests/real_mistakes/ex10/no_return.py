# what: ends without return
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None
# false: cannot be read|inputs of other sizes
def softmax_stable(x, dim=-1):
    m = x.amax(dim=dim, keepdim=True)
    e = torch.exp(x - m)
    result = e / e.sum(dim=dim, keepdim=True)  # <-
