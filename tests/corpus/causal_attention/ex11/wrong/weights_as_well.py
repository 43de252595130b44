# wrong: the weights are returned beside the context vectors
# named: result and weights
def all_context_vectors(inputs):
    attn_weights = torch.softmax(inputs @ inputs.T, dim=-1)
    context_vecs = attn_weights @ inputs
    return context_vecs, attn_weights
