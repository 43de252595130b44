# what: shift in the numerator only
# pattern: operator
# causes: 1
# true: shifted on top only
# says:
# false:
def softmax(items_in):
    x = torch.as_tensor(items_in)
    m = x.max()
    numerator = torch.exp(x - m)
    denominator = torch.exp(x).sum()  # <-
    return numerator / denominator
