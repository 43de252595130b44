# right: nested list comprehension, elementwise product and sum, ** 0.5
def attention_scores(all_queries, all_keys):
    return [[(q * k).sum() / len(q) ** 0.5 for k in all_keys] for q in all_queries]
