# wrong: reads the notebook's D
# named: the notebook's variables
def attention_scores(all_queries, all_keys):
    all_scores = []
    for q in all_queries:
        scores = []
        for k in all_keys:
            scores.append(torch.matmul(q.T, k).squeeze() / math.sqrt(D))
        all_scores.append(scores)
    return all_scores
