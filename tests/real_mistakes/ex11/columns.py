# what: the formula for columns
# pattern: words-as-rows
# causes: 1
# true: dimensions compared | dimensions compared, down columns
# says:
# false:
def all_context_vectors(inputs):
    scores = inputs.T @ inputs  # <-
    weights = torch.softmax(scores, dim=0)
    return inputs @ weights  # <-
