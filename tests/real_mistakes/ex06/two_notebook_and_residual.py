# what: notebook's D, and the own value added
# pattern: two
# causes: 2
# true: the notebook's variables | value added
# says: reads `D`
# false: whatever D|divided by 2
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for i, q in enumerate(all_queries):
        s = torch.stack([torch.sum(q * k) / math.sqrt(D) for k in all_keys])  # <-
        w = softmax(s)
        o = sum(a * v for a, v in zip(w, all_values))
        outs.append(o + all_values[i])  # <-
    return outs
