# wrong: outer list per key, inner per query, so the matrix is transposed
# named: one list per key
def attention_scores(all_queries, all_keys):
    out = []
    for k in all_keys:
        row = []
        for q in all_queries:
            row.append(torch.dot(q[:, 0], k[:, 0]) / math.sqrt(len(k)))
        out.append(row)
    return out
