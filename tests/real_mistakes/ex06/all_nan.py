# what: the root of negative scores
# pattern: all-nan
# causes: 1
# true:
# says: NaN
# false: same result whatever|whatever its input
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) for k in all_keys])
        s = torch.sqrt(-torch.abs(s)) / q.shape[0]  # <-
        w = torch.softmax(s, dim=0)
        outs.append(sum(a * v for a, v in zip(w, all_values)))
    return outs
