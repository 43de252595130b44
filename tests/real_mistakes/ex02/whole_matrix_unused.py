# what: scaled matrix unused, the raw one is turned into lists
# pattern: unused-result
# causes: 1
# true:
# says: scores_scaled.*never
# false:
# follows: not scaled
def attention_scores(all_queries, all_keys):
    Q = torch.cat(all_queries, dim=1)
    K = torch.cat(all_keys, dim=1)
    scores = Q.T @ K
    scores_scaled = scores / Q.shape[0] ** 0.5
    out = []
    for i in range(scores.shape[0]):
        out.append([s for s in scores[i]])  # <-
    return out
