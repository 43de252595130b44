# what: one long row
# pattern: wrong-shape
# causes: 1
# true:
# says: flatten|one row|arrangement
# false:
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = torch.softmax(scores, dim=-1)
    return (weights @ inputs).flatten()  # <-
