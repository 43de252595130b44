# wrong: divided by the root of how many numbers there are, as in scaled attention
# named: scaled
def softmax_stable(x, dim=-1):
    d_k = x.shape[dim]
    return F.softmax(x / math.sqrt(d_k), dim=dim)
