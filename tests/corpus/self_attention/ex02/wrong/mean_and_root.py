# wrong: torch.mean instead of torch.sum, and divided by sqrt(D) all the same
# named: scaled twice
def attention_scores(all_queries, all_keys):
    all_scores = []
    for n in range(len(all_queries)):
        scores_n = []
        for m in range(len(all_keys)):
            product = torch.mul(all_queries[n], all_keys[m])
            scores_n.append(torch.mean(product) / math.sqrt(len(product)))
        all_scores.append(scores_n)
    return all_scores
