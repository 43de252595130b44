# wrong: calls itself instead of a library function, RecursionError
# named: nothing
def softmax(items_in):
    items_in = torch.as_tensor(items_in)
    return softmax(items_in)
