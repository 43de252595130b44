# wrong: scores in a 6 x 6 matrix, whatever T is
# named: nothing
def all_context_vectors(inputs):
    attn_scores = torch.empty(6, 6)
    for i, x_i in enumerate(inputs):
        for j, x_j in enumerate(inputs):
            attn_scores[i, j] = torch.dot(x_i, x_j)
    return torch.softmax(attn_scores, dim=-1) @ inputs
