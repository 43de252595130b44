# what: div without underscore
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: not normalised
def softmax(items_in):
    items = torch.as_tensor(items_in)
    exps = torch.exp(items)
    exps.div(exps.sum())  # <-
    return exps
