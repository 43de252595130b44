# wrong: divided by exp of the sum instead of the sum of exps
# named: nothing
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return torch.exp(x) / torch.exp(torch.sum(x))
