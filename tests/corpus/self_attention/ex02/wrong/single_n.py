# wrong: one number for queries and keys, that of the queries
# named: as many keys as queries assumed
def attention_scores(all_queries, all_keys):
    N = len(all_queries)
    D = len(all_queries[0])
    all_scores = [[0 for _ in range(N)] for _ in range(N)]
    for i in range(N):
        for j in range(N):
            q = all_queries[i].to(torch.float64)
            k = all_keys[j].to(torch.float64)
            all_scores[i][j] = ((q.T @ k).squeeze() / D**0.5).float()
    return all_scores
