# what: the weights are returned
# pattern: stub-variable
# causes: 1
# true: weights returned
# says: all_outputs.*never
# false:
def self_attention(all_queries, all_keys, all_values):
    all_attention_scores = attention_scores(all_queries, all_keys)
    all_attention_weights = attention_weights(all_attention_scores)
    all_outputs = weighted_sums(all_attention_weights, all_values)
    return all_attention_weights  # <-
