# wrong: one loop instead of two, each query meets the key of its own word only
# named: own key only
def attention_scores(all_queries, all_keys):
    scores = []
    for i in range(len(all_queries)):
        q = all_queries[i]
        k = all_keys[i]
        scores.append((q.T @ k).squeeze() / math.sqrt(q.shape[0]))
    return scores
