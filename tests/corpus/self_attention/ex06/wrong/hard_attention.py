# wrong: takes the value of the best key only
# named: hard maximum
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        scores = [float(torch.sum(q * k)) for k in all_keys]
        outs.append(all_values[scores.index(max(scores))])
    return outs
