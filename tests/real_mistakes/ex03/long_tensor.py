# what: the result is made of whole numbers
# pattern: dtype
# causes: 1
# true:
# says: whole|integer|long|dtype|int64
# false: [Yy]ou give all weight|same result whatever
def softmax(items_in):
    items = torch.as_tensor(items_in)
    out = torch.zeros(len(items), dtype=torch.long)  # <-
    total = torch.exp(items).sum()
    for i in range(len(items)):
        out[i] = torch.exp(items[i]) / total
    return out
