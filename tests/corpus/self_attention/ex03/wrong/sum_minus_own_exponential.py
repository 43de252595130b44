# wrong: each item's own exponential is taken out of the sum it is divided by
# named: others' sum
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    others = torch.sum(e) - e
    return e / others
