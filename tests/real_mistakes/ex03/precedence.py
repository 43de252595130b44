# what: division binds before the sum that was meant
# pattern: operator
# causes: 1
# true:
# says: - 1|sum to one|negative
# false:
def softmax(items_in):
    items = torch.as_tensor(items_in)
    shifted = items - torch.max(items)
    return torch.exp(shifted) / torch.exp(shifted).sum() - 1  # <-
