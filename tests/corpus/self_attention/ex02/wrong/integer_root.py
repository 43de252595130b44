# wrong: math.isqrt(D), right only where D is a square number
# named: nothing
def attention_scores(all_queries, all_keys):
    return [[torch.sum(q * k) / math.isqrt(q.shape[0]) for k in all_keys] for q in all_queries]
