# wrong: divided by the largest exponential instead of by the sum
# named: largest weight 1
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    return e / e.max()
