# wrong: IndentationError
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in)
      e = torch.exp(x)
    return e / e.sum()
