# what: exp(x - max) alone
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | largest weight 1
# says: sum to one
# false: [Yy]ou divide by the (max|larg)
def softmax_stable(x, dim=-1):
    x_max = x.max(dim=dim, keepdim=True)[0]
    return torch.exp(x - x_max)  # <-
