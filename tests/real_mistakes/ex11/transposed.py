# what: inputs @ inputs
# pattern: missing-transpose
# causes: 1
# true:
# says: transpos
# false: inputs of other sizes
def all_context_vectors(inputs):
    scores = inputs @ inputs  # <-
    weights = torch.softmax(scores, dim=-1)
    return weights @ inputs
