# wrong: right numbers, but q /= sqrt(D) changes the caller's queries
# named: nothing
def attention_scores(all_queries, all_keys):
    for q in all_queries:
        q /= math.sqrt(q.shape[0])
    return [[(q * k).sum() for k in all_keys] for q in all_queries]
