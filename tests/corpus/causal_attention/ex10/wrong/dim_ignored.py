# wrong: dim is ignored, always the last
# named: always the last dimension
def softmax_stable(x, dim=-1):
    shifted = x - x.max(dim=-1, keepdim=True).values
    return shifted.exp() / shifted.exp().sum(dim=-1, keepdim=True)
