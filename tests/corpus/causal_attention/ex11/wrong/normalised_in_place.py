# wrong: the words are normalised in place first
# named: nothing
def all_context_vectors(inputs):
    inputs /= inputs.norm(dim=-1, keepdim=True)
    return torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
