# wrong: the scores are divided by their sum, without exp
# named: without the exponential
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        s = torch.stack([torch.sum(q * k) / math.sqrt(q.shape[0]) for k in all_keys])
        w = s / s.sum()
        y = 0
        for j in range(len(w)):
            y = y + w[j] * all_values[j]
        outputs.append(y)
    return outputs
