# wrong: exponentials that are never divided by their sum
# named: not normalised
def softmax(items_in):
    return torch.exp(torch.as_tensor(items_in))
