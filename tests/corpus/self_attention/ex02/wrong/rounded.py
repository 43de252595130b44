# wrong: rounded to two decimals
# named: nothing
def attention_scores(all_queries, all_keys):
    return [[round((q * k).sum().item() / math.sqrt(q.shape[0]), 2) for k in all_keys] for q in all_queries]
