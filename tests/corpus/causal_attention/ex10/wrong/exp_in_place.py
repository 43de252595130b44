# wrong: right numbers through a view, but exp_ and div_ write into the caller's x
# named: nothing
def softmax_stable(x, dim=-1):
    y = x.view(x.shape)
    y.sub_(y.max(dim=dim, keepdim=True)[0]).exp_()
    y.div_(y.sum(dim=dim, keepdim=True))
    return y
