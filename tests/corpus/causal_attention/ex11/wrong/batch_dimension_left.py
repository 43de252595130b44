# wrong: right numbers, (1, T, d)
# named: nothing
def all_context_vectors(inputs):
    x = inputs.unsqueeze(0)
    return torch.softmax(x @ x.transpose(1, 2), dim=-1) @ x
