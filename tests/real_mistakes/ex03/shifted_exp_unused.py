# what: normalised result has another name than what is returned
# pattern: unused-result
# causes: 1
# true:
# says: softmax_items.*never
# false:
# follows: not normalised
def softmax(items_in):
    items = torch.as_tensor(items_in)
    items_out = torch.exp(items)
    denominator = torch.sum(items_out)
    softmax_items = items_out / denominator
    return items_out  # <-
