# what: notebook's D, range to N - 1, keys outside
# pattern: three
# causes: 3
# true: the notebook's variables | one list per key
# says: reads `D`|before the last
# false: last key left out|last key:|whatever D is
def attention_scores(all_queries, all_keys):
    all_scores = []
    for j in range(len(all_keys)):  # <-
        scores = []
        for i in range(len(all_queries) - 1):  # <-
            scores.append(torch.sum(all_queries[i] * all_keys[j]) / math.sqrt(D))  # <-
        all_scores.append(scores)
    return all_scores
