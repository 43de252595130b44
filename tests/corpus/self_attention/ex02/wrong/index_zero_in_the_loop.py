# wrong: all_queries[0] in the inner loop, so all rows are those of the first query
# named: first query only
def attention_scores(all_queries, all_keys):
    D_k = all_keys[0].shape[0]
    scores = []
    for i in range(len(all_queries)):
        row = []
        for j in range(len(all_keys)):
            row.append(torch.dot(all_queries[0].flatten(), all_keys[j].flatten()) / math.sqrt(D_k))
        scores.append(row)
    return scores
