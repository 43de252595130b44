# wrong: the inner loop runs over the queries as well, the keys are not used
# named: queries with queries
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for q1 in all_queries:
        scores = []
        for q2 in all_queries:
            scores.append(torch.sum(q1 * q2) / math.sqrt(q1.shape[0]))
        weights = torch.softmax(torch.stack(scores), dim=0)
        outputs.append(sum(weights[j] * all_values[j] for j in range(len(all_values))))
    return outputs
