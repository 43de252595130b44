# wrong: i where j is meant, so only the word's own weight and the word itself are used
# named: weights entry by entry
def all_context_vectors(inputs):
    attn_weights = torch.softmax(inputs @ inputs.T, dim=-1)
    context = torch.zeros_like(inputs)
    for i in range(inputs.shape[0]):
        context[i] = attn_weights[i, i] * inputs[i]
    return context
