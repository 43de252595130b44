# wrong: items_in -= max changes the caller's tensor
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in)
    x -= x.max()
    return torch.exp(x) / torch.exp(x).sum()
