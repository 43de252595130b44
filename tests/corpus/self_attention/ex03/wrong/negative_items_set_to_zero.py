# wrong: negative items become zero, then everything is divided by the sum
# named: negatives cut off
def softmax(items_in):
    x = torch.as_tensor(items_in)
    x = torch.where(x > 0, x, torch.zeros_like(x))
    return x / x.sum()
