# what: shape is called like a function
# pattern: typo
# causes: 1
# true:
# says: TypeError|not callable
# false: inputs of other sizes
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        D = query.shape(0)  # <-
        all_scores.append([torch.sum(query * key) / math.sqrt(D) for key in all_keys])
    return all_scores
