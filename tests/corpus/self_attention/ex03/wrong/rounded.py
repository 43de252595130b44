# wrong: rounded to two decimals
# named: nothing
def softmax(items_in):
    return torch.round(torch.softmax(torch.as_tensor(items_in), 0) * 100) / 100
