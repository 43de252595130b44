# what: the empty tensor of the beginning is returned
# pattern: stub-variable
# causes: 1
# true:
# says: probabilities.*never
# false:
def softmax(items_in):
    items_in = torch.as_tensor(items_in)
    items_out = torch.zeros_like(items_in)
    exp_items = torch.exp(items_in)
    probabilities = exp_items / exp_items.sum()
    return items_out  # <-
