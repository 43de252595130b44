# what: the max-shift is there, the division is not
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | largest weight 1
# says: sum to one
# false: [Yy]ou divide by the (largest|maximum)
def softmax(items_in):
    t = torch.as_tensor(items_in)
    return torch.exp(t - t.max())  # <-
