# wrong: divided by D instead of sqrt(D)
# named: divided by D
def attention_scores(all_queries, all_keys):
    D = all_queries[0].shape[0]
    return [[torch.dot(q.flatten(), k.flatten()) / D for k in all_keys] for q in all_queries]
