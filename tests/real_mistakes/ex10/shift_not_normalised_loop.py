# what: exp(t - t.max()), the sum is forgotten
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | largest weight 1
# says: sum to one
# false: [Yy]ou divide by the (max|larg)
def softmax_stable(x, dim=-1):
    t = x
    biggest = torch.amax(t, dim, keepdim=True)
    numerator = (t - biggest).exp()
    # already between 0 and 1
    return numerator  # <-
