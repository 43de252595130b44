# wrong: one sum for all words, which adds up every context vector
# named: summed over the words
def all_context_vectors(inputs):
    context_vec = torch.zeros(inputs.shape[1], device=inputs.device)
    for query in inputs:
        weights = torch.softmax(inputs @ query, dim=0)
        for j, x_j in enumerate(inputs):
            context_vec += weights[j] * x_j
    return context_vec
