# wrong: one at the largest, zero elsewhere
# named: hard maximum
def softmax_stable(x, dim=-1):
    biggest = x.max(dim=dim, keepdim=True).values
    hot = (x == biggest).float() + 0 * x
    return hot / hot.sum(dim=dim, keepdim=True)
