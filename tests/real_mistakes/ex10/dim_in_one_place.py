# what: the sum always over the last axis
# pattern: wrong-axis
# causes: 1
# true:
# says: sum|last dimension|dim=-1
# false: You always take the maximum|always works along
def softmax_stable(x, dim=-1):
    m = x.amax(dim=dim, keepdim=True)
    e = torch.exp(x - m)
    denominator = e.sum(dim=-1, keepdim=True)  # <-
    return e / denominator
