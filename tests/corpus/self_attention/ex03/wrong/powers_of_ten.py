# wrong: powers of ten, 10 ** x instead of exp(x)
# named: base ten
def softmax(items_in):
    powers = torch.tensor([10 ** float(x) for x in items_in])
    return powers / torch.sum(powers)
