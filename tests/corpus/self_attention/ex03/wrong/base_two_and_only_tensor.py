# wrong: two mistakes, base two and a list raises
# named: nothing
def softmax(items_in):
    powers = torch.pow(2.0, items_in)
    return powers / powers.sum()
