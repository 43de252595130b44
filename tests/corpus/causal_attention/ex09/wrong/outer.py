# wrong: the query is not transposed to fit, a RuntimeError when T and d differ
# named: inputs transposed
def simple_attention_scores(inputs, query):
    return query @ inputs
