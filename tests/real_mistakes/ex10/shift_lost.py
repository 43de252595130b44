# what: sub without underscore
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: not shifted
def softmax_stable(x, dim=-1):
    maximum = x.max(dim=dim, keepdim=True).values
    x.sub(maximum)  # <-
    exps = torch.exp(x)
    return exps / exps.sum(dim=dim, keepdim=True)
