# what: the size is taken as of a row vector, which is 1
# pattern: words-as-rows
# causes: 1
# true: not scaled
# says: shape\[-1\]|is 1\b|by 1\b
# false:
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        d_k = query.shape[-1]  # <-
        scores = []
        for key in all_keys:
            scores.append(torch.sum(query * key) / math.sqrt(d_k))
        all_scores.append(scores)
    return all_scores
