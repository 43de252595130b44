# what: scores as whole numbers
# pattern: dtype
# causes: 1
# true:
# says: whole|long|integer|dtype
# false:
def all_context_vectors(inputs):
    scores = (inputs @ inputs.T).long()  # <-
    weights = torch.softmax(scores.to(inputs.dtype), dim=-1)
    return weights @ inputs
