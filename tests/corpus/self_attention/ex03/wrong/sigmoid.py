# wrong: sigmoid of each item
# named: sigmoid
def softmax(items_in):
    return torch.sigmoid(torch.as_tensor(items_in))
