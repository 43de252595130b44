# what: scaled by D, masked, mean for sum
# pattern: three
# causes: 3
# true: divided by D | future hidden | mean instead of sum
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for i, q in enumerate(all_queries):
        s = torch.stack([torch.sum(q * k) / q.shape[0] for k in all_keys])  # <-
        for j in range(i + 1, len(s)):
            s[j] = float("-inf")  # <-
        w = softmax(s)
        o = sum(a * v for a, v in zip(w, all_values))
        outs.append(o / len(all_values))  # <-
    return outs
