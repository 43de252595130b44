# what: the transpose is made with view
# pattern: wrong-view
# causes: 1
# true:
# says: view|mix|transpose
# false: softmax runs down|same argument
def all_context_vectors(inputs):
    x_t = inputs.view(inputs.shape[1], inputs.shape[0])  # <-
    scores = inputs @ x_t
    return torch.softmax(scores, dim=-1) @ inputs
