# wrong: divided inside the loop by the sum so far
# named: nothing
def softmax(items_in):
    total = 0.0
    out = []
    for item in items_in:
        e = math.exp(item)
        total += e
        out.append(e / total)
    return torch.tensor(out)
