# what: softmax of the functional module by another name
# pattern: typo
# causes: 1
# true:
# says: AttributeError|softmaxx
# false: inputs of other sizes
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    weights = nn.functional.softmaxx(scores, dim=-1)  # <-
    return weights @ inputs
