# what: weighted_sums gets values first
# pattern: arguments-exchanged
# causes: 1
# true:
# says: weighted_sums\(all_values
# false: inputs of other sizes|column
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    outputs = weighted_sums(all_values, weights)  # <-
    return outputs
