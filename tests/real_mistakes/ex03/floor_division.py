# what: // in place of /
# pattern: integer-division
# causes: 1
# true:
# says: //|whole number|rounded
# false: hard|[Yy]ou (return|give) (zeros|all weight)|same result whatever
def softmax(items_in):
    items = torch.as_tensor(items_in)
    e = torch.exp(items)
    return e // e.sum()  # <-
