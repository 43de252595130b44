# wrong: right numbers in float64, whatever came
# named: float64 returned
def all_context_vectors(inputs):
    x = inputs.double()
    return torch.softmax(x @ x.T, dim=-1) @ x
