# what: the sum is replaced in every step
# pattern: overwrites
# causes: 1
# true:
# says: overwrit|replac|last
# false: divide by the largest|largest weight
def softmax(items_in):
    items = torch.as_tensor(items_in)
    total = 0
    for item in items:
        total = torch.exp(item)  # <-
    return torch.exp(items) / total
