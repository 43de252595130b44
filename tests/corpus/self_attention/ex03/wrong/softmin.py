# wrong: exp(-x), the smallest item gets the largest weight
# named: sign flipped
def softmax(items_in):
    e = torch.exp(-torch.as_tensor(items_in))
    return e / e.sum()
