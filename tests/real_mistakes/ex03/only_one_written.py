# what: the loop writes the same place again and again
# pattern: overwrites
# causes: 1
# true:
# says: overwrit|result\[0\]|same place|one entry
# false: largest number gets|hard
def softmax(items_in):
    items = torch.as_tensor(items_in)
    result = torch.zeros(len(items))
    total = sum(torch.exp(i) for i in items)
    for i in range(len(items)):
        result[0] = torch.exp(items[i]) / total  # <-
    return result
