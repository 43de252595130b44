# what: no shift, first dimension, mean for sum
# pattern: three
# causes: 3
# true: not shifted | always the first dimension | divided by the mean
# says:
# false:
def softmax_stable(x, dim=-1):
    exps = torch.exp(x)  # <-
    total = exps.mean(dim=0, keepdim=True)  # <-
    return exps / total  # <-
