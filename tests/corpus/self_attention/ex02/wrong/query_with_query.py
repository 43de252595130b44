# wrong: queries times queries, the keys are never used
# named: queries with queries
def attention_scores(all_queries, all_keys):
    return [[(a * b).sum() / math.sqrt(len(a)) for b in all_queries] for a in all_queries]
