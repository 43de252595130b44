# what: 2 ** x for exp
# pattern: wrong-exponent
# causes: 1
# true: base two
# says:
# false:
def softmax(items_in):
    items = torch.as_tensor(items_in)
    powers = 2 ** items  # <-
    return powers / powers.sum()
