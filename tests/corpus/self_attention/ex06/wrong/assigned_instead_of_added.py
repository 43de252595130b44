# wrong: = instead of +=, only the last word's value counts
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q in all_queries:
        scores = torch.stack([torch.sum(q * k) / math.sqrt(q.shape[0]) for k in all_keys])
        weights = torch.softmax(scores, dim=0)
        for w, v in zip(weights, all_values):
            output = w * v
        outputs.append(output)
    return outputs
