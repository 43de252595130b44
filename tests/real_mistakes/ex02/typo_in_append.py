# what: a name is misspelt
# pattern: typo
# causes: 1
# true:
# says: NameError|qeury
# false: inputs of other sizes
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            scores.append(torch.sum(qeury * key) / math.sqrt(query.shape[0]))  # <-
        all_scores.append(scores)
    return all_scores
