# wrong: absolute values, "a score cannot be negative"
# named: absolute value
def attention_scores(all_queries, all_keys):
    return [[abs((q * k).sum()) / math.sqrt(q.shape[0]) for k in all_keys] for q in all_queries]
