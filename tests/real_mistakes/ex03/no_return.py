# what: assigned and not returned
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None|returned None
# false: cannot be read|inputs of other sizes
def softmax(items_in):
    items = torch.as_tensor(items_in)
    exps = torch.exp(items)
    items_out = exps / torch.sum(exps)  # <-
