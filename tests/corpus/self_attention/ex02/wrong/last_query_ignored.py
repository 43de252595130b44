# wrong: off by one in the outer loop, the last query has no row
# named: nothing
def attention_scores(all_queries, all_keys):
    scores = []
    for i in range(len(all_queries) - 1):
        row = []
        for j in range(len(all_keys)):
            row.append(torch.sum(all_queries[i] * all_keys[j]) / math.sqrt(all_queries[i].shape[0]))
        scores.append(row)
    return scores
