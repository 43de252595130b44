# wrong: returns a pair, outputs and weights
# named: outputs and weights
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    return weighted_sums(weights, all_values), weights
