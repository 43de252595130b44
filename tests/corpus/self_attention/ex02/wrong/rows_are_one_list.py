# wrong: [[0] * N] * N, all rows are the same list, so every row holds the last query's scores
# named: last query only
def attention_scores(all_queries, all_keys):
    n = len(all_keys)
    scores = [[0] * n] * len(all_queries)
    for i, q in enumerate(all_queries):
        for j, k in enumerate(all_keys):
            scores[i][j] = (q.T @ k).item() / math.sqrt(q.shape[0])
    return scores
