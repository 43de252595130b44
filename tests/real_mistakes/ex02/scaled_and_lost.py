# what: div returns the scaled score, which is lost
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: not scaled
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        d = query.shape[0]
        for key in all_keys:
            score = torch.matmul(query.T, key).squeeze()
            score.div(math.sqrt(d))  # <-
            scores.append(score)
        all_scores.append(scores)
    return all_scores
