# wrong: the context vector of one word is flat
# named: nothing
def all_context_vectors(inputs):
    weights = torch.softmax(inputs @ inputs.T, -1)
    return (weights @ inputs).squeeze()
