# what: torch.exp of a plain list
# pattern: typo
# causes: 1
# true: tensors only
# says:
# false:
def softmax(items_in):
    exponentials = torch.exp(items_in)  # <-
    return exponentials / torch.sum(exponentials)
