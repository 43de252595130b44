# wrong: the maximum is subtracted in the numerator but not in the denominator
# named: shifted on top only
def softmax(items_in):
    x = torch.as_tensor(items_in)
    return torch.exp(x - x.max()) / torch.exp(x).sum()
