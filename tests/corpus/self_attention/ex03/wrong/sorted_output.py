# wrong: the weights are sorted, the order of the items is lost
# named: nothing
def softmax(items_in):
    x, _ = torch.sort(torch.as_tensor(items_in), descending=True)
    return torch.exp(x) / torch.exp(x).sum()
