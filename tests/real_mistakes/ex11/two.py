# what: scaled, softmax down the columns
# pattern: two
# causes: 2
# true: scaled by √d | softmax down the columns
# says:
# false:
def all_context_vectors(inputs):
    scores = inputs @ inputs.T / inputs.shape[-1] ** 0.5  # <-
    weights = torch.softmax(scores, dim=0)  # <-
    return weights @ inputs
