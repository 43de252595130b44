# what: q @ k of two columns
# pattern: missing-transpose
# causes: 1
# true: words as rows
# says: transpos
# false: inputs of other sizes
# follows: vectors in place of columns
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            score = torch.matmul(query, key) / math.sqrt(query.shape[0])  # <-
            scores.append(score)
        all_scores.append(scores)
    return all_scores
