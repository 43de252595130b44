# wrong: divided by the root of the number of words
# named: divided by √N
def attention_scores(all_queries, all_keys):
    scale = math.sqrt(len(all_queries))
    return [[(q.T @ k).item() / scale for k in all_keys] for q in all_queries]
