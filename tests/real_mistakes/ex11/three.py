# what: scaled by T, future hidden, result transposed
# pattern: three
# causes: 3
# true: divided by T | future hidden | result transposed
# says:
# false:
def all_context_vectors(inputs):
    T = inputs.shape[0]
    scores = inputs @ inputs.T / T  # <-
    scores = scores.masked_fill(torch.triu(torch.ones(T, T), diagonal=1).bool(), float("-inf"))  # <-
    weights = torch.softmax(scores, dim=-1)
    return (weights @ inputs).T  # <-
