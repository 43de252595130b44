# right: python loop with math.exp, then a tensor
def softmax(items_in):
    exps = []
    total = 0
    for item in items_in:
        e = math.exp(item)
        exps.append(e)
        total += e
    return torch.tensor([e / total for e in exps])
