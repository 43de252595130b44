# what: shifted is computed, x is used
# pattern: unused-result
# causes: 1
# true:
# says: shifted.*never
# false:
# follows: not shifted
def softmax_stable(x, dim=-1):
    shifted = x - x.amax(dim=dim, keepdim=True)
    exp_x = torch.exp(x)  # <-
    return exp_x / exp_x.sum(dim=dim, keepdim=True)
