# what: all_outputs of the beginning is returned
# pattern: stub-variable
# causes: 1
# true:
# says: outputs.*never|empty
# false:
def self_attention(all_queries, all_keys, all_values):
    all_outputs = []
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    outputs = weighted_sums(weights, all_values)
    return all_outputs  # <-
