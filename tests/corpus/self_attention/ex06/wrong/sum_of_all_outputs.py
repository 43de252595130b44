# wrong: the outputs of all queries added up
# named: everything summed up
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    return sum(weighted_sums(weights, all_values))
