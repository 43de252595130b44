# wrong: query plus key, summed, instead of query times key
# named: added instead of multiplied
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        scores.append([])
        for k in all_keys:
            scores[-1].append(torch.sum(q + k) / math.sqrt(q.shape[0]))
    return scores
