# what: the scaling is lost, results are flat
# pattern: two
# causes: 2
# true: flat vectors
# says: throws? .*away
# false:
# follows: not scaled
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) for k in all_keys])
        s.div(math.sqrt(q.shape[0]))  # <-
        w = softmax(s)
        o = sum(a * v for a, v in zip(w, all_values))
        outs.append(o.squeeze())  # <-
    return outs
