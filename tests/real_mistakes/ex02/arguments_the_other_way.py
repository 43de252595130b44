# what: a helper is called with key and query exchanged, in loops that are exchanged too
# pattern: arguments-exchanged
# causes: 1
# true: one list per key
# says:
# false:
def attention_scores(all_queries, all_keys):
    def scores_of(query, keys):
        return [torch.sum(query * key) / math.sqrt(query.shape[0]) for key in keys]

    all_scores = []
    for key in all_keys:  # <-
        all_scores.append(scores_of(key, all_queries))  # <-
    return all_scores
