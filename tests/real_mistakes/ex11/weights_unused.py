# what: the scores are multiplied
# pattern: unused-result
# causes: 1
# true:
# says: weights`.*never
# false:
# follows: raw scores as weights
def all_context_vectors(inputs):
    attn_scores = torch.empty(inputs.shape[0], inputs.shape[0], dtype=inputs.dtype)
    for i, x_i in enumerate(inputs):
        for j, x_j in enumerate(inputs):
            attn_scores[i, j] = torch.dot(x_i, x_j)
    weights = torch.softmax(attn_scores, dim=-1)
    return attn_scores @ inputs  # <-
