# what: ends without return
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None
# false: cannot be read|inputs of other sizes
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = torch.softmax(scores, dim=-1)
    all_context = weights @ inputs  # <-
