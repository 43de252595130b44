# wrong: mean of the products instead of sum divided by sqrt(D)
# named: divided by D
def attention_scores(all_queries, all_keys):
    scores = []
    for q in all_queries:
        scores.append([torch.mean(q * k) for k in all_keys])
    return scores
