# wrong: exp without the division
# named: not normalised
def all_context_vectors(inputs):
    weights = torch.exp(inputs @ inputs.T)
    return weights @ inputs
