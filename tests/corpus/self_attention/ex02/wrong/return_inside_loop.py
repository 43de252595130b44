# wrong: return is indented into the loop over the queries, so there is one row only
# named: nothing
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        row = []
        for k in all_keys:
            row.append(torch.sum(q * k) / math.sqrt(q.shape[0]))
        scores.append(row)
        return scores
