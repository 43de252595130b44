# what: append stands behind the inner loop
# pattern: overwrites
# causes: 1
# true:
# says: last key|overwrit|replac
# false: stops before|own word|last query
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            score = torch.sum(query * key) / math.sqrt(query.shape[0])
        scores.append(score)  # <-
        all_scores.append(scores)
    return all_scores
