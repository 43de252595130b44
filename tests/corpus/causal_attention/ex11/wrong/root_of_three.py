# wrong: the root of the notebook's three features is written into the function
# named: divided by √3
def all_context_vectors(inputs):
    scores = inputs.matmul(inputs.t()) / 3**0.5
    weights = torch.softmax(scores, dim=-1)
    return weights.matmul(inputs)
