# what: both loops run over the notebook's N
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `N`
# false: stops before
def attention_scores(all_queries, all_keys):
    all_attention_scores = []
    for i in range(N):  # <-
        scores_i = []
        for j in range(N):  # <-
            s = (all_queries[i].T @ all_keys[j]) / (all_queries[i].shape[0] ** 0.5)
            scores_i.append(s.squeeze())
        all_attention_scores.append(scores_i)
    return all_attention_scores
