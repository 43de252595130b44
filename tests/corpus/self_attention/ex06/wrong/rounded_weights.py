# wrong: the weights are rounded to two decimals before the sums
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    weights = [torch.round(w, decimals=2) for w in weights]
    return weighted_sums(weights, all_values)
