# what: as many rows as the notebook has words
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|`words`
# false: six words of the notebook
def all_context_vectors(inputs):
    context = torch.zeros(len(words), inputs.shape[1], dtype=inputs.dtype)  # <-
    for i, x_i in enumerate(inputs):
        w = torch.softmax(inputs @ x_i, dim=0)
        context[i] = w @ inputs
    return context
