# wrong: each item is divided by the sum over all other items
# named: others' sum
def softmax(items_in):
    values = [math.exp(float(i)) for i in items_in]
    result = []
    for i in range(len(values)):
        rest = 0.0
        for j in range(len(values)):
            if i != j:
                rest += values[j]
        result.append(values[i] / rest)
    return torch.tensor(result)
