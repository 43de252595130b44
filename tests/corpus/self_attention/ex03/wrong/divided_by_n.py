# wrong: mean instead of sum in the denominator
# named: divided by the mean
def softmax(items_in):
    e = torch.exp(torch.as_tensor(items_in))
    return e / torch.mean(e)
