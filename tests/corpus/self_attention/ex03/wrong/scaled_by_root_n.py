# wrong: an extra scaling by the root of the length inside softmax
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return torch.softmax(x / math.sqrt(x.shape[0]), dim=0)
