# wrong: exp of absolute values
# named: nothing
def softmax(items_in):
    e = torch.exp(torch.abs(torch.as_tensor(items_in)))
    return e / e.sum()
