# wrong: X.T X compares features, not words
# named: dimensions compared
def all_context_vectors(inputs):
    attn = torch.softmax(inputs.T @ inputs, dim=-1)
    return inputs @ attn
