# what: the scaled score is computed and the other one appended
# pattern: unused-result
# causes: 1
# true:
# says: scaled_score.*never
# false: (do not|not) scale(d)? the scores\.
# follows: not scaled
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            score = torch.matmul(query.T, key)
            scaled_score = score / math.sqrt(len(query))
            scores.append(score)  # <-
        all_scores.append(scores)
    return all_scores
