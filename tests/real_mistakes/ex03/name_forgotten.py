# what: items is never made
# pattern: typo
# causes: 1
# true:
# says: NameError|`items`
# false: inputs of other sizes|notebook
def softmax(items_in):
    exps = torch.exp(items)  # <-
    total = exps.sum()
    return exps / total
