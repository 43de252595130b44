# wrong: two mistakes, divided by the maximum and rounded
# named: nothing
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    return torch.round(e / e.max(), decimals=2)
