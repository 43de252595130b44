# wrong: the inner list is created once outside the loop, so it grows
# named: rows of all queries
def attention_scores(all_queries, all_keys):
    all_scores = []
    scores = []
    for q in all_queries:
        for k in all_keys:
            scores.append((q * k).sum() / math.sqrt(q.shape[0]))
        all_scores.append(scores)
    return all_scores
