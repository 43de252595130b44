# wrong: exponentials over the sum of the items themselves
# named: sum of the raw numbers
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return torch.exp(x) / torch.sum(x)
