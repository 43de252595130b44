# wrong: scores divided by their sum instead of softmax
# named: divided by the sum
def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.T
    attn_weights = attn_scores / attn_scores.sum(dim=-1, keepdim=True)
    return attn_weights @ inputs
