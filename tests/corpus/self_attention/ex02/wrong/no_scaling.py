# wrong: no scaling by the square root of D
# named: not scaled
def attention_scores(all_queries, all_keys):
    return [[torch.dot(q.flatten(), k.flatten()) for k in all_keys] for q in all_queries]
