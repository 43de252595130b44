# wrong: queries and keys are made unit vectors first, then scaled by sqrt(D)
# named: cosine similarity
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        q_unit = q / torch.norm(q)
        row = []
        for k in all_keys:
            k_unit = k / torch.norm(k)
            row.append(torch.sum(q_unit * k_unit) / math.sqrt(q.shape[0]))
        scores.append(row)
    return scores
