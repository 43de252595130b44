# wrong: both loops run over the keys
# named: keys with keys
def attention_scores(all_queries, all_keys):
    scores = []
    for i, key_i in enumerate(all_keys):
        row = []
        for j, key_j in enumerate(all_keys):
            row.append((key_i.T @ key_j)[0, 0] / math.sqrt(all_queries[0].shape[0]))
        scores.append(row)
    return scores
