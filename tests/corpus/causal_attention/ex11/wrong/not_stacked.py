# wrong: right numbers, but a list of vectors that are not stacked
# named: list of rows
def all_context_vectors(inputs):
    context_vecs = []
    for query in inputs:
        attn_weights = (inputs @ query).softmax(0)
        context_vecs.append(attn_weights @ inputs)
    return context_vecs
