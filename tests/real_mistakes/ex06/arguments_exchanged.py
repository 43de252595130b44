# what: attention_scores gets keys first
# pattern: arguments-exchanged
# causes: 1
# true: queries and keys exchanged
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_keys, all_queries)  # <-
    weights = attention_weights(scores)
    outputs = weighted_sums(weights, all_values)
    return outputs
