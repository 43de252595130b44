# wrong: sqrt of the number of words
# named: divided by √N
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        w = softmax([torch.sum(q * k) / math.sqrt(len(all_keys)) for k in all_keys])
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
