# wrong: 1 / (1 + exp(-x)), divided by the sum
# named: sigmoid, normalised
def softmax(items_in):
    x = torch.as_tensor(items_in)
    s = 1 / (1 + torch.exp(-x))
    weights = s / torch.sum(s)
    return weights
