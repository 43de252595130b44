# wrong: divided by 2, which is sqrt(4)
# named: divided by 2
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        w = softmax([torch.sum(q * k) / 2 for k in all_keys])
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
