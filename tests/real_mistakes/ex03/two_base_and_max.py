# what: 2 ** x, divided by the largest
# pattern: two
# causes: 2
# true: base two | largest weight 1 | not normalised
# says:
# false:
def softmax(items_in):
    x = torch.as_tensor(items_in)
    p = torch.pow(2.0, x)  # <-
    return p / p.max()  # <-
