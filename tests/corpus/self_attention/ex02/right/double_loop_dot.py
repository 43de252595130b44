# right: double loop with append and torch.dot
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        row = []
        for k in all_keys:
            row.append(torch.dot(q.squeeze(1), k.squeeze(1)) / math.sqrt(q.shape[0]))
        all_scores.append(row)
    return all_scores
