# wrong: items divided by the maximum "to avoid overflow", instead of subtracted
# named: divided by the maximum first
def softmax(items_in):
    x = torch.as_tensor(items_in)
    x = x / x.max()
    return torch.exp(x) / torch.exp(x).sum()
