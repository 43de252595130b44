# wrong: multiplied by sqrt(D) instead of divided
# named: multiplied by √D
def attention_scores(all_queries, all_keys):
    return [[(q * k).sum() * math.sqrt(q.shape[0]) for k in all_keys] for q in all_queries]
