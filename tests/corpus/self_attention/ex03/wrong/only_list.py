# wrong: works for a list only, a tensor has no copy()
# named: lists only
def softmax(items_in):
    items = items_in.copy()
    for i in range(len(items)):
        items[i] = math.exp(items[i])
    total = sum(items)
    return torch.tensor([v / total for v in items])
