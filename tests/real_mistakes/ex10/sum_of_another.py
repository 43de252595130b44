# what: the sum is taken of the unshifted exponentials
# pattern: unused-result
# causes: 1
# true: shifted on top only
# says:
# false:
def softmax_stable(x, dim=-1):
    max_vals, _ = torch.max(x, dim=dim, keepdim=True)
    exp_shifted = torch.exp(x - max_vals)
    total = torch.exp(x).sum(dim=dim, keepdim=True)  # <-
    return exp_shifted / total
