# what: returns the zeros of the beginning
# pattern: stub-variable
# causes: 1
# true:
# says: result.*never
# false: plain average
def all_context_vectors(inputs):
    context_vecs = torch.zeros_like(inputs)
    scores = torch.matmul(inputs, inputs.T)
    weights = torch.softmax(scores, dim=1)
    result = torch.matmul(weights, inputs)
    return context_vecs  # <-
