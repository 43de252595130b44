# wrong: the keys are summed instead of the values
# named: keys as values
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    return weighted_sums(weights, all_keys)
