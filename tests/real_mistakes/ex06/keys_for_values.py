# what: the last line has the keys
# pattern: copied-line
# causes: 1
# true: keys as values
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for i in range(len(all_queries)):
        s = []
        for j in range(len(all_keys)):
            s.append(torch.sum(all_queries[i] * all_keys[j]) / math.sqrt(all_queries[i].shape[0]))
        w = softmax(torch.stack(s))
        o = torch.zeros_like(all_values[0])
        for j in range(len(all_keys)):
            o = o + w[j] * all_keys[j]  # <-
        outs.append(o)
    return outs
