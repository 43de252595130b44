# wrong: attention_scores is called without the keys, TypeError
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries)
    weights = attention_weights(scores)
    return weighted_sums(weights, all_values)
