# what: weights * inputs
# pattern: operator
# causes: 1
# true:
# says: entry by entry|weights \* inputs
# false: inputs of other sizes
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = torch.softmax(scores, dim=-1)
    return weights * inputs  # <-
