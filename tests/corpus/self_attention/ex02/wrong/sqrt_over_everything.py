# wrong: the root is taken of the whole quotient, sqrt(q.k / D), NaN for negative scores
# named: nothing
def attention_scores(all_queries, all_keys):
    return [[torch.sqrt((q * k).sum() / q.shape[0]) for k in all_keys] for q in all_queries]
