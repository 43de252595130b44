# what: + for *
# pattern: operator
# causes: 1
# true: added instead of multiplied
# says:
# false:
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            scores.append(torch.sum(query + key) / math.sqrt(query.shape[0]))  # <-
        all_scores.append(scores)
    return all_scores
