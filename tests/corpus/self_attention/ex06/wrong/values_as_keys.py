# wrong: queries are compared with the values
# named: values for keys
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_values))
    return weighted_sums(weights, all_values)
