# wrong: squared to be positive, then divided by the sum
# named: squares
def softmax(items_in):
    x = torch.as_tensor(items_in)
    squared = x * x
    return squared / squared.sum()
