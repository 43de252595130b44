# wrong: returns the sum of the exponentials
# named: nothing
def softmax(items_in):
    exps = torch.exp(torch.as_tensor(items_in))
    total = exps.sum()
    exps = exps / total
    return total
