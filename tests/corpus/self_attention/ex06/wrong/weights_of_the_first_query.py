# wrong: scores of query 0 are used for every word
# named: first query's weights
def self_attention(all_queries, all_keys, all_values):
    outputs = []
    for i in range(len(all_queries)):
        scores = [torch.sum(all_queries[0] * key) / math.sqrt(key.shape[0]) for key in all_keys]
        weights = softmax(torch.stack(scores))
        outputs.append(sum(w * v for w, v in zip(weights, all_values)))
    return outputs
