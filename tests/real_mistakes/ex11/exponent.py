# what: scaled by ** 0.05
# pattern: wrong-exponent
# causes: 1
# true:
# says: 0\.05|not scaled|scale
# false: divide the scores by √d|number of dimensions
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = torch.softmax(scores / inputs.shape[1] ** 0.05, dim=-1)  # <-
    return weights @ inputs
