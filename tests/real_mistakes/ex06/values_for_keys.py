# what: values where keys are meant
# pattern: copied-line
# causes: 1
# true: values for keys
# says:
# false:
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_values)  # <-
    weights = attention_weights(scores)
    outputs = weighted_sums(weights, all_values)
    return outputs
