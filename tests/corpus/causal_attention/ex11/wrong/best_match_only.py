# wrong: each word is replaced by the word with the largest score
# named: hard maximum
def all_context_vectors(inputs):
    attn_scores = inputs @ inputs.T
    best = attn_scores.argmax(dim=-1)
    return inputs[best]
