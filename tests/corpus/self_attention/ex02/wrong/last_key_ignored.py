# wrong: off by one, the last key is never looked at
# named: last key left out
def attention_scores(all_queries, all_keys):
    scores = []
    for i in range(len(all_queries)):
        row = []
        for j in range(len(all_keys) - 1):
            row.append(torch.sum(all_queries[i] * all_keys[j]) / math.sqrt(all_keys[j].shape[0]))
        scores.append(row)
    return scores
