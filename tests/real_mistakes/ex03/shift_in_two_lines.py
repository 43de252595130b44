# what: shifted exponentials, not divided
# pattern: shift-not-normalised
# causes: 1
# true: not normalised | largest weight 1
# says: sum to one
# false: [Yy]ou divide by the (largest|maximum)
def softmax(items_in):
    items = torch.tensor(items_in) if isinstance(items_in, list) else items_in
    biggest = torch.max(items)
    # subtract the biggest so exp doesn't explode
    items = items - biggest
    weights = torch.exp(items)
    return weights  # <-
