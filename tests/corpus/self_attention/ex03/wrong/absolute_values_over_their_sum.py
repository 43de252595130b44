# wrong: absolute values divided by their sum, no exponential
# named: absolute values
def softmax(items_in):
    magnitudes = [abs(float(x)) for x in items_in]
    total = sum(magnitudes)
    return torch.tensor([m / total for m in magnitudes])
