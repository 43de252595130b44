# wrong: only the context vector of the second word
# named: second word only
def all_context_vectors(inputs):
    query = inputs[1]
    w = torch.softmax(inputs @ query, dim=0)
    return w @ inputs
