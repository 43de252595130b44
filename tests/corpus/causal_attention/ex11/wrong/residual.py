# wrong: the inputs are added to the result
# named: words added
def all_context_vectors(inputs):
    return inputs + torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
