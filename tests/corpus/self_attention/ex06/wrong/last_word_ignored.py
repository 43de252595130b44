# wrong: off by one, nobody looks at the last word
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    return weighted_sums(attention_weights(attention_scores(all_queries, all_keys[:-1])), all_values[:-1])
