# wrong: d_k is taken from shape[-1], which is 1 for a column, so nothing is scaled
# named: not scaled
def attention_scores(all_queries, all_keys):
    d_k = all_keys[0].shape[-1]
    scores = []
    for q in all_queries:
        scores.append([(q.T @ k).squeeze() / math.sqrt(d_k) for k in all_keys])
    return scores
