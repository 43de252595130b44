# wrong: one flat list of N*N scores
# named: one flat list
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        for k in all_keys:
            scores.append((q * k).sum() / math.sqrt(q.shape[0]))
    return scores
