# what: ** 1 / 2 binds otherwise than meant
# pattern: wrong-exponent
# causes: 1
# true:
# says: 1 / 2|and by 2|twice
# false: whatever D|divided by 2
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        d = query.shape[0]
        scores = []
        for key in all_keys:
            scores.append((query * key).sum() / d ** 1 / 2)  # <-
        all_scores.append(scores)
    return all_scores
