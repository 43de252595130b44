# wrong: a word does not look at itself
# named: nothing
def all_context_vectors(inputs):
    s = inputs @ inputs.T
    s = s - torch.diag(torch.diag(s))
    return torch.softmax(s, dim=-1) @ inputs
