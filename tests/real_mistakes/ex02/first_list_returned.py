# what: the list of the beginning is returned, the scores are in another
# pattern: stub-variable
# causes: 1
# true:
# says: result.*never|empty
# false:
def attention_scores(all_queries, all_keys):
    all_scores = []
    result = []
    for query in all_queries:
        row = []
        for key in all_keys:
            row.append(torch.dot(query.flatten(), key.flatten()) / math.sqrt(query.numel()))
        result.append(row)
    return all_scores  # <-
