# what: the fraction is inside of exp
# pattern: operator
# causes: 1
# true:
# says: sum to one|inside|before
# false: leave out exp|divided? by the (mean|maximum)
def softmax(items_in):
    items = torch.as_tensor(items_in)
    return torch.exp(items / torch.sum(torch.exp(items)))  # <-
