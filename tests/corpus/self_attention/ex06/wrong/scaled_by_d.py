# wrong: D instead of sqrt(D)
# named: divided by D
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        w = softmax([torch.sum(q * k) / q.shape[0] for k in all_keys])
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
