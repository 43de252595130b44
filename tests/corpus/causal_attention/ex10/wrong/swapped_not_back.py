# wrong: dim changes places with the last axis, and the result stays so
# named: nothing
def softmax_stable(x, dim=-1):
    y = x.transpose(dim, -1)
    y = y - y.amax(-1, keepdim=True)
    return y.exp() / y.exp().sum(-1, keepdim=True)
