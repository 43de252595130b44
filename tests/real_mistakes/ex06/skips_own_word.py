# what: range starts at 1
# pattern: off-by-one
# causes: 1
# true:
# says: first (word|value)|range\(1
# false: last word never
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) / len(q) ** 0.5 for k in all_keys])
        w = softmax(s)
        o = torch.zeros_like(all_values[0])
        for j in range(1, len(all_values)):  # <-
            o = o + w[j] * all_values[j]
        outs.append(o)
    return outs
