# wrong: the distance between query and key, scaled, instead of their dot product
# named: distance
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            distance = torch.sqrt(torch.sum((key - query) ** 2))
            scores.append(distance / math.sqrt(query.shape[0]))
        all_scores.append(scores)
    return all_scores
