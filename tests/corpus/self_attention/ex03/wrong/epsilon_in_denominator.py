# wrong: a large epsilon in the denominator, off by parts in a thousand
# named: nothing
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    return e / (e.sum() + 0.1)
