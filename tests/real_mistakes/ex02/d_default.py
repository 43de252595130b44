# what: the notebook's D is kept as a default value
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `D`
# false: whatever D is|divided by 2
def attention_scores(all_queries, all_keys, scale=D ** 0.5):  # <-
    result = []
    for query in all_queries:
        scores_for_query = []
        for key in all_keys:
            scores_for_query.append((query * key).sum() / scale)
        result.append(scores_for_query)
    return result
