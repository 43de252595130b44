# wrong: the weights are transposed before the last product
# named: softmax down the columns
def all_context_vectors(inputs):
    attn_weights = torch.softmax(inputs @ inputs.T, dim=-1)
    return attn_weights.T @ inputs
