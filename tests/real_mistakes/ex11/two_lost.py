# what: softmax lost, and summed
# pattern: two
# causes: 2
# true: words added
# says: throws? .*away
# false:
# follows: raw scores as weights
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    scores.softmax(dim=-1)  # <-
    context = scores @ inputs
    return context + inputs  # <-
