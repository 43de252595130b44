# wrong: reads the notebook's N
# named: the notebook's variables
def attention_scores(all_queries, all_keys):
    return [
        [torch.sum(all_queries[i] * all_keys[j]) / math.sqrt(len(all_queries[i])) for j in range(N)] for i in range(N)
    ]
