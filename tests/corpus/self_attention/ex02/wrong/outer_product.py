# wrong: q @ k.T is the outer product, a D x D matrix instead of a scalar
# named: outer product
def attention_scores(all_queries, all_keys):
    return [[q @ k.T / math.sqrt(q.shape[0]) for k in all_keys] for q in all_queries]
