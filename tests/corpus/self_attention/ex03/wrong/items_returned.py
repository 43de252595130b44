# wrong: the items come back as they are, only made a tensor
# named: items returned
def softmax(items_in):
    items = torch.as_tensor(items_in)
    exps = torch.exp(items)
    weights = exps / exps.sum()
    return items
