# what: the difference stands alone on its line
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: not shifted
def softmax_stable(x, dim=-1):
    x_max = torch.amax(x, dim=dim, keepdim=True)
    x - x_max  # <-
    e = torch.exp(x)
    return e / torch.sum(e, dim=dim, keepdim=True)
