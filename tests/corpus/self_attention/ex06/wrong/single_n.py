# wrong: one number for queries and keys, that of the queries
# named: as many keys as queries assumed
def self_attention(all_queries, all_keys, all_values):
    N = len(all_queries)
    out = [None] * N
    for n in range(N):
        scores = torch.zeros(N)
        for m in range(N):
            scores[m] = torch.matmul(all_keys[m].T, all_queries[n]) / math.sqrt(all_keys[m].shape[0])
        w = softmax(scores)
        out[n] = torch.zeros_like(all_values[0])
        for m in range(N):
            out[n] += w[m] * all_values[m]
    return out
