# wrong: off by one, there is no output for the last query
# named: last query left out
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for i in range(len(all_queries) - 1):
        q = all_queries[i]
        weights = torch.softmax(torch.stack([torch.sum(q * k) for k in all_keys]) / math.sqrt(len(q)), dim=0)
        outputs.append(sum(w * v for w, v in zip(weights, all_values)))
    return outputs
