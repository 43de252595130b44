# wrong: returns the attention weights
# named: weights returned
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    outputs = weighted_sums(weights, all_values)
    return weights
