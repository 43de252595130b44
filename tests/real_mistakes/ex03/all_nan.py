# what: log of negative numbers: NaN
# pattern: all-nan
# causes: 1
# true:
# says: NaN|not a number
# false: whatever its input|same result
def softmax(items_in):
    items = torch.as_tensor(items_in)
    log_items = torch.log(-torch.exp(items))  # <-
    e = torch.exp(log_items)
    return e / e.sum()
