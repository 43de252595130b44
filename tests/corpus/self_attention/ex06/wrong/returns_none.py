# wrong: no return
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    all_outputs = weighted_sums(weights, all_values)
