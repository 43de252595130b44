# wrong: attention_scores(keys, queries)
# named: queries and keys exchanged
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_keys, all_queries)
    weights = attention_weights(scores)
    return weighted_sums(weights, all_values)
