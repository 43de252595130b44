# wrong: the weights are applied to the queries instead of the values
# named: queries as values
def self_attention(all_queries, all_keys, all_values):
    all_scores = attention_scores(all_queries, all_keys)
    all_weights = attention_weights(all_scores)
    return weighted_sums(all_weights, all_queries)
