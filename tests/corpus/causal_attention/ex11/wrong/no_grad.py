# wrong: right numbers, but no_grad cuts the gradient
@torch.no_grad()
def all_context_vectors(inputs):
    return torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
