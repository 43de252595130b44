# wrong: right numbers, but gradients reach the words as values only
# named: nothing
def all_context_vectors(inputs):
    weights = torch.softmax(inputs @ inputs.T, dim=-1)
    return weights.data @ inputs
