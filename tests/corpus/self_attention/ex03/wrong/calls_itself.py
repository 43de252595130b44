# wrong: calls itself instead of a library function, RecursionError
def softmax(items_in):
    items_in = torch.as_tensor(items_in)
    return softmax(items_in)
