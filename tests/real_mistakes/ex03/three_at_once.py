# what: powers of ten, sum plus epsilon of one, and as a list
# pattern: three
# causes: 3
# true: base ten | sum plus one | a list returned
# says:
# false:
def softmax(items_in):
    x = torch.as_tensor(items_in)
    p = 10 ** x  # <-
    s = p.sum() + 1  # <-
    return [float(v / s) for v in p]  # <-
