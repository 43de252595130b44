# right: map and lambda
def attention_scores(all_queries, all_keys):
    score = lambda q, k: (q.T @ k).item() / math.sqrt(q.shape[-2])
    return list(map(lambda q: list(map(lambda k: score(q, k), all_keys)), all_queries))
