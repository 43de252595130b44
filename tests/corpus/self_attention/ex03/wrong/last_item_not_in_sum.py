# wrong: off by one, the last item is missing from the denominator
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in)
    e = torch.exp(x)
    total = 0
    for i in range(len(x) - 1):
        total = total + e[i]
    return e / total
