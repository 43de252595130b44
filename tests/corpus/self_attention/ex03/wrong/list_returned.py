# wrong: right numbers, but as a list of floats
# named: a list returned
def softmax(items_in):
    exps = []
    for item in items_in:
        exps.append(math.exp(item))
    total = sum(exps)
    return [e / total for e in exps]
