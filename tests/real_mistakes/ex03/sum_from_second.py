# what: the first number is missing from the sum
# pattern: off-by-one
# causes: 1
# true:
# says: range\(1|first (number|item|entry)
# false: own exponential out
def softmax(items_in):
    items = torch.as_tensor(items_in)
    total = 0.0
    for i in range(1, len(items)):  # <-
        total = total + torch.exp(items[i])
    return torch.exp(items) / total
