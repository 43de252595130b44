# wrong: the items are cast to integers
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in).int().float()
    return torch.exp(x) / torch.exp(x).sum()
