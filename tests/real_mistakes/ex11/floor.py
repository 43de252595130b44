# what: // 1
# pattern: integer-division
# causes: 1
# true:
# says: //|rounded|whole
# false:
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = torch.softmax(scores, dim=-1)
    return (weights @ inputs) // 0.01 * 0.01  # <-
