# wrong: right numbers with an extra leading dimension, (1, N)
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in).reshape(1, -1)
    return torch.softmax(x, dim=1)
