# wrong: divided by the number of keys, as for an average
# named: divided by N
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        row = []
        for k in all_keys:
            total = 0.0
            for d in range(q.shape[0]):
                total = total + q[d, 0] * k[d, 0]
            row.append(total / len(all_keys))
        scores.append(row)
    return scores
