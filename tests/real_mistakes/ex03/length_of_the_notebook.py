# what: sums N numbers, with the notebook's N
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `N`
# false: others|own exponential
def softmax(items_in):
    items = torch.as_tensor(items_in)
    e = torch.exp(items - items.max())
    total = 0
    for i in range(N):  # <-
        total = total + e[i]
    return e / total
