# what: i written where j is meant
# pattern: copied-line
# causes: 1
# true: own key only
# says: own (word's )?key
# false:
def attention_scores(all_queries, all_keys):
    n_queries = len(all_queries)
    n_keys = len(all_keys)
    all_scores = []
    for i in range(n_queries):
        scores_i = []
        for j in range(n_keys):
            q_i = all_queries[i]
            k_j = all_keys[i]  # <-
            scores_i.append(torch.sum(q_i * k_j) / math.sqrt(q_i.shape[0]))
        all_scores.append(scores_i)
    return all_scores
