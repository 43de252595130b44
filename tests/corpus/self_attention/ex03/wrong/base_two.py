# wrong: powers of two instead of e
# named: base two
def softmax(items_in):
    p = 2 ** torch.as_tensor(items_in)
    return p / p.sum()
