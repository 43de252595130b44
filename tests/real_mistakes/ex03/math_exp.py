# what: math.exp cannot take a tensor of several numbers
# pattern: typo
# causes: 1
# true:
# says: math\.exp|TypeError|ValueError|RuntimeError|one element|scalar
# false: inputs of other sizes
def softmax(items_in):
    items = torch.as_tensor(items_in)
    exps = math.exp(items)  # <-
    return exps / sum(exps)
