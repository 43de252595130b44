# what: q @ k.T as for row vectors
# pattern: words-as-rows
# causes: 1
# true: outer product | words as rows
# says:
# false:
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            score = query @ key.T  # <-
            scores.append(score / math.sqrt(query.shape[0]))
        all_scores.append(scores)
    return all_scores
