# what: the sum runs over an axis of length one
# pattern: wrong-axis
# causes: 1
# true:
# says: dim=0|axis|itself
# false: hard|not normalised
def softmax(items_in):
    items = torch.as_tensor(items_in).unsqueeze(0)  # <-
    e = torch.exp(items)
    probs = e / e.sum(dim=0, keepdim=True)  # <-
    return probs.squeeze(0)
