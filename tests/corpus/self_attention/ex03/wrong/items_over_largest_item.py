# wrong: items divided by the largest item, no exponential
# named: exponential forgotten + divided by the largest
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return x / torch.max(x)
