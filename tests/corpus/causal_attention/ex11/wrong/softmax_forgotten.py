# wrong: no softmax
# named: softmax missing
def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.T
    return attn_scores @ inputs
