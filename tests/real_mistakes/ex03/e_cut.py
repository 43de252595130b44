# what: 2.7 for e
# pattern: wrong-exponent
# causes: 1
# true:
# says: 2\.7|base
# false: powers of 2|powers of 10|divide the numbers|scaled
def softmax(items_in):
    items = torch.as_tensor(items_in)
    e = 2.7  # <-
    numerator = e ** items
    return numerator / torch.sum(numerator)
