# wrong: right numbers, but the caller's tensor (or list) is overwritten
# named: nothing
def softmax(items_in):
    total = 0.0
    for i in range(len(items_in)):
        items_in[i] = math.exp(items_in[i])
        total += float(items_in[i])
    return torch.as_tensor(items_in) / total
