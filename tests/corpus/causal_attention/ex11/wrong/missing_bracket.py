# wrong: SyntaxError, a bracket is not closed
# named: nothing
def all_context_vectors(inputs):
    attn_weights = torch.softmax(inputs @ inputs.T, dim=-1
    return attn_weights @ inputs
