# wrong: the root of the notebook's three features is written into the function
# named: √3 hard-coded
def all_context_vectors(inputs):
    scores = inputs.matmul(inputs.t()) / 3**0.5
    weights = torch.softmax(scores, dim=-1)
    return weights.matmul(inputs)
