# what: exp(-x), divided by the mean
# pattern: two
# causes: 2
# true: sign flipped | divided by the mean
# says:
# false:
def softmax(items_in):
    x = torch.as_tensor(items_in)
    p = torch.exp(-x)  # <-
    return p / torch.mean(p)  # <-
