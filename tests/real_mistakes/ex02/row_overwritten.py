# what: the row is assigned, so that the last key's score is left
# pattern: overwrites
# causes: 1
# true:
# says: last key|overwrit|replac
# false: stops before|own word|last query
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        for key in all_keys:
            scores = [torch.sum(query * key) / math.sqrt(query.shape[0])]  # <-
        all_scores.append(scores)
    return all_scores
