# wrong: items over their sum, no exponential
# named: exponential forgotten
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return x / x.sum()
