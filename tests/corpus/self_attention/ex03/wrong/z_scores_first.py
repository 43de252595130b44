# wrong: mean and standard deviation are taken out before the exponential
# named: standardised first
def softmax(items_in):
    x = torch.as_tensor(items_in)
    z = (x - torch.mean(x)) / torch.std(x)
    exps = torch.exp(z)
    return exps / exps.sum()
