# wrong: two mistakes, divided by D and the last query left out
# named: nothing
def attention_scores(all_queries, all_keys):
    scores = []
    for i in range(len(all_queries) - 1):
        scores.append([(all_queries[i] * k).sum() / k.shape[0] for k in all_keys])
    return scores
