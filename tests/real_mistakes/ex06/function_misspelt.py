# what: attention_weight is not defined
# pattern: typo
# causes: 1
# true:
# says: NameError|attention_weight\b
# false: inputs of other sizes
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_queries, all_keys)
    weights = attention_weight(scores)  # <-
    return weighted_sums(weights, all_values)
