# what: returns the exponentials
# pattern: stub-variable
# causes: 1
# true: not normalised | largest weight 1
# says: out.*never
# false: [Yy]ou divide by the (max|larg)
def softmax_stable(x, dim=-1):
    m = x.amax(dim=dim, keepdim=True)
    exps = torch.exp(x - m)
    out = exps / exps.sum(dim=dim, keepdim=True)
    return exps  # <-
