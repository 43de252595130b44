# wrong: the running total starts at one instead of at zero
# named: sum plus one
def softmax(items_in):
    x = torch.as_tensor(items_in)
    total = 1
    for item in x:
        total += torch.exp(item)
    return torch.stack([torch.exp(item) / total for item in x])
