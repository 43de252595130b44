# what: the scaled scores are not used
# pattern: unused-result
# causes: 1
# true:
# says: scaled_scores.*never
# false: do not scale
# follows: not scaled
def self_attention(all_queries, all_keys, all_values):
    all_outputs = []
    for q in all_queries:
        d_k = q.shape[0]
        raw_scores = [torch.dot(q[:, 0], k[:, 0]) for k in all_keys]
        scaled_scores = [s / math.sqrt(d_k) for s in raw_scores]
        w = softmax(torch.stack(raw_scores))  # <-
        o = 0
        for j in range(len(all_values)):
            o = o + w[j] * all_values[j]
        all_outputs.append(o)
    return all_outputs
