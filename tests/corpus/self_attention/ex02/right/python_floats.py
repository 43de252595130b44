# right: scalars as python floats
def attention_scores(all_queries, all_keys):
    D = all_queries[0].shape[0]
    scores = []
    for query in all_queries:
        scores.append([])
        for key in all_keys:
            s = 0.0
            for i in range(D):
                s += query[i].item() * key[i].item()
            scores[-1].append(s / math.sqrt(D))
    return scores
