# wrong: elementwise product, never summed
# named: not summed
def attention_scores(all_queries, all_keys):
    return [[q * k / math.sqrt(q.shape[0]) for k in all_keys] for q in all_queries]
