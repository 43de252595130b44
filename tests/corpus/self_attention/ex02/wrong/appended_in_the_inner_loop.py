# wrong: the row is appended in the inner loop, so it is in the result once per key
# named: nothing
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        row = []
        for k in all_keys:
            row.append(torch.sum(q * k) / math.sqrt(q.shape[0]))
            scores.append(row)
    return scores
