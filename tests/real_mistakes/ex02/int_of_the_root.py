# what: the root is cut to a whole number
# pattern: integer-division
# causes: 1
# true:
# says: int\(|whole number
# false: whatever D|√4|hard-coded|√N
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scale = int(math.sqrt(query.shape[0]))  # <-
        scores = []
        for key in all_keys:
            scores.append(torch.sum(query * key) / scale)
        all_scores.append(scores)
    return all_scores
