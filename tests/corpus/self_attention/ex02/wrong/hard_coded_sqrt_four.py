# wrong: sqrt(4) is hard-coded
# named: divided by 2
def attention_scores(all_queries, all_keys):
    return [[torch.sum(q * k) / math.sqrt(4) for k in all_keys] for q in all_queries]
