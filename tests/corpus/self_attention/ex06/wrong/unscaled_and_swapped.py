# wrong: two mistakes, no scaling and keys and queries swapped
# named: not scaled + queries and keys exchanged
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for k in all_keys:
        w = softmax([torch.sum(q * k) for q in all_queries])
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
