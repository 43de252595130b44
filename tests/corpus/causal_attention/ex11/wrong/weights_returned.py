# wrong: returns the weights, (T, T)
# named: weights returned
def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.T
    attn_weights = torch.softmax(attn_scores, dim=-1)
    return attn_weights
