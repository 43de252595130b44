# what: sum over an axis that a 1-D tensor does not have
# pattern: wrong-axis
# causes: 1
# true:
# says: IndexError|[Dd]imension out of range|dim=1
# false: inputs of other sizes
def softmax(items_in):
    items = torch.as_tensor(items_in)
    e = torch.exp(items)
    return e / e.sum(dim=1)  # <-
