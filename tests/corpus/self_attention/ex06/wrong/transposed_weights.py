# wrong: the weights are transposed before the sums
# named: weights transposed
def self_attention(all_queries, all_keys, all_values):
    W = torch.stack(attention_weights(attention_scores(all_queries, all_keys)))
    return weighted_sums(list(W.T), all_values)
