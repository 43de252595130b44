# wrong: attention_scores is called with the keys twice
# named: keys with keys
def self_attention(all_queries, all_keys, all_values):
    scores = attention_scores(all_keys, all_keys)
    return weighted_sums(attention_weights(scores), all_values)
