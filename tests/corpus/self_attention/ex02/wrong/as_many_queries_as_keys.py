# wrong: goes through as many queries as there are keys
# named: as many queries as keys assumed
def attention_scores(all_queries, all_keys):
    N = len(all_keys)
    root = math.sqrt(len(all_keys[0]))
    return [[torch.sum(all_queries[n] * all_keys[m]) / root for m in range(N)] for n in range(N)]
