# wrong: the query is normalised in place, so the caller's query changes
# named: divided by the length of the query
def simple_attention_scores(inputs, query):
    query /= query.norm()
    return inputs @ query
