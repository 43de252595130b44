# wrong: three items are hard-coded
# named: nothing
def softmax(items_in):
    a = math.exp(items_in[0])
    b = math.exp(items_in[1])
    c = math.exp(items_in[2])
    s = a + b + c
    return torch.tensor([a / s, b / s, c / s])
