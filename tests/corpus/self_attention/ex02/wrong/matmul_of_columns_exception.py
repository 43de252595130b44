# wrong: two columns are multiplied without a transpose, which raises
# named: vectors in place of columns
def attention_scores(all_queries, all_keys):
    scores = []
    for query in all_queries:
        scores_for_query = []
        for key in all_keys:
            scores_for_query.append(torch.matmul(query, key) / math.sqrt(query.shape[0]))
        scores.append(scores_for_query)
    return scores
