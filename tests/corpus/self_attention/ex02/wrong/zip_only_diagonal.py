# wrong: zip pairs each query with its own key only
# named: nothing
def attention_scores(all_queries, all_keys):
    return [[(q * k).sum() / math.sqrt(q.shape[0])] for q, k in zip(all_queries, all_keys)]
