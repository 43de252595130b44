# wrong: SyntaxError, tabs and spaces mixed
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
	weights = attention_weights(scores)
    return weighted_sums(weights, all_values)
