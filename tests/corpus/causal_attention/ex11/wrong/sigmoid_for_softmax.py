# wrong: sigmoid instead of softmax, so rows do not sum to one
# named: sigmoid
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = 1 / (1 + torch.exp(-scores))
    return weights @ inputs
