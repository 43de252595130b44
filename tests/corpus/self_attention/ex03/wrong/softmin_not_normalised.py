# wrong: two mistakes, exp(-x) and no division
# named: not normalised + sign flipped
def softmax(items_in):
    return torch.exp(-torch.as_tensor(items_in))
