# wrong: the accumulator is made once before the loops
# named: sums that go on
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    y = torch.zeros_like(all_values[0])
    for q in all_queries:
        s = torch.stack([(q.T @ k).squeeze() / math.sqrt(q.shape[0]) for k in all_keys])
        a = torch.softmax(s, 0)
        for j, v in enumerate(all_values):
            y = y + a[j] * v
        outputs.append(y)
    return outputs
