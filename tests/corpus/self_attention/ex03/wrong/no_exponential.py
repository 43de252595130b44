# wrong: items over their sum, no exponential
# named: without the exponential
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return x / x.sum()
