# wrong: softmax of the weights once more before the sums
# named: applied twice
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    normalised = []
    for w in weights:
        normalised.append(softmax(w))
    return weighted_sums(normalised, all_values)
