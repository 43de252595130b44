# wrong: dim=1 of a vector, which raises
# named: nothing
def softmax(items_in):
    return torch.softmax(torch.as_tensor(items_in), dim=1)
