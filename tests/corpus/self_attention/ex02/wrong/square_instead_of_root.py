# wrong: the square of D instead of its square root
# named: divided by D²
def attention_scores(all_queries, all_keys):
    d_squared = math.pow(all_queries[0].shape[0], 2)
    result = []
    for query in all_queries:
        result.append([torch.sum(query * key) / d_squared for key in all_keys])
    return result
