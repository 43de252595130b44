# right: calls the functions of exercises 2, 4 and 5
def self_attention(all_queries, all_keys, all_values):
    all_attention_scores = attention_scores(all_queries, all_keys)
    all_attention_weights = attention_weights(all_attention_scores)
    return weighted_sums(all_attention_weights, all_values)
