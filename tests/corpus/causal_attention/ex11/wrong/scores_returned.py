# wrong: returns the scores, (T, T)
# named: raw scores as weights + weights returned
def all_context_vectors(inputs):
    attn_scores = torch.empty(len(inputs), len(inputs))
    for i in range(len(inputs)):
        for j in range(len(inputs)):
            attn_scores[i][j] = inputs[i] @ inputs[j]
    return attn_scores
