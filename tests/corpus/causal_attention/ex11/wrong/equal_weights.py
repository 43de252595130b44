# wrong: plain average of the words
# named: plain average
def all_context_vectors(inputs):
    T = inputs.shape[0]
    return (torch.ones(T, T) / T) @ inputs
