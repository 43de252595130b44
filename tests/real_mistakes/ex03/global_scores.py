# what: reads the notebook's all_x instead of its argument
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|all_x|argument
# false: one long|largest
def softmax(items_in):
    # stack what we got
    items = torch.cat(all_x).flatten()  # <-
    exponentials = torch.exp(items)
    return exponentials / exponentials.sum()
