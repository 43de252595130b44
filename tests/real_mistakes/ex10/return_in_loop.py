# what: returns the softmax of the first row
# pattern: return-in-loop
# causes: 1
# true:
# says: inside|first row|loop
# false: always the
def softmax_stable(x, dim=-1):
    for row in x:
        shifted = row - row.max()
        e = torch.exp(shifted)
        return e / e.sum()  # <-
