# what: return inside the loop over the items
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|first (number|item|entry)|return
# false: largest weight
def softmax(items_in):
    items = torch.as_tensor(items_in)
    total = torch.exp(items).sum()
    result = []
    for item in items:
        result.append(torch.exp(item) / total)
        return torch.stack(result)  # <-
