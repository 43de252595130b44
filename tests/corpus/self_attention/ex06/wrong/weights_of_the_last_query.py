# wrong: the weights are computed in one loop and used in the next, so all words get the last query's
# named: last query's weights
def self_attention(all_queries, all_keys, all_values):
    for q in all_queries:
        w = softmax([(q * k).sum() / math.sqrt(len(q)) for k in all_keys])
    outs = []
    for q in all_queries:
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
