# what: the absolute value, and divided by D
# pattern: two
# causes: 2
# true: absolute value | divided by D
# says:
# false:
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        scores = []
        for k in all_keys:
            s = abs((q * k).sum())  # <-
            scores.append(s / q.shape[0])  # <-
        all_scores.append(scores)
    return all_scores
