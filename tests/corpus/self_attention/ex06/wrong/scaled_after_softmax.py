# wrong: the weights are scaled instead of the scores
# named: scaled in the wrong place
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        w = softmax([torch.sum(q * k) for k in all_keys]) / math.sqrt(len(q))
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
