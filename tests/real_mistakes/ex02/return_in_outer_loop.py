# what: return is indented into the outer loop
# pattern: return-in-loop
# causes: 1
# true:
# says: return.* (inside|in) the loop|return after the first|one query only|first query only
# false: Every row holds|one long list
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            scores.append(torch.sum(query * key) / torch.sqrt(torch.tensor(query.shape[0])))
        all_scores.append(scores)
        return all_scores  # <-
