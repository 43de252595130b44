# wrong: items divided by the largest item, no exponential
# named: without the exponential + largest weight 1
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return x / torch.max(x)
