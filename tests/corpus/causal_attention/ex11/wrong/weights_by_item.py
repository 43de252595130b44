# wrong: right numbers, but no gradient goes through a list of numbers
# named: gradients cut off
def all_context_vectors(inputs):
    rows = torch.softmax(inputs @ inputs.T, dim=-1).tolist()
    vectors = [sum(weight * word for weight, word in zip(row, inputs)) for row in rows]
    return torch.stack(vectors).detach()
