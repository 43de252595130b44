# wrong: divided by how many items there are
# named: divided by the count
def softmax(items_in):
    exp_items = torch.exp(torch.as_tensor(items_in))
    n = len(exp_items)
    return exp_items / n
