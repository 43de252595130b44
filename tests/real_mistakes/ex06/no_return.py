# what: nothing is returned
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None|returned None
# false: cannot be read|inputs of other sizes
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weights(scores)
    all_outputs = weighted_sums(weights, all_values)  # <-
