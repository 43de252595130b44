# what: exp(t - t.max()), the sum is forgotten
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | divided by the largest at the end
# says: sum to one
# false: [Yy]ou divide by the (max|larg)
def softmax_stable(x, dim=-1):
    t = x
    biggest = torch.amax(t, dim, keepdim=True)
    numerator = (t - biggest).exp()
    # already between 0 and 1
    return numerator  # <-
