# wrong: exponentials that are never divided by their sum
def softmax(items_in):
    return torch.exp(torch.as_tensor(items_in))
