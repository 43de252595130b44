# what: the inner loop begins at 1
# pattern: off-by-one
# causes: 1
# true:
# says: first key|range\(1
# false: last key|before the last
def attention_scores(all_queries, all_keys):
    all_scores = []
    for i in range(len(all_queries)):
        scores = []
        for j in range(1, len(all_keys)):  # <-
            scores.append(torch.sum(all_queries[i] * all_keys[j]) / all_queries[i].shape[0] ** 0.5)
        all_scores.append(scores)
    return all_scores
