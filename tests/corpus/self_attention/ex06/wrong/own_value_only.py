# wrong: one loop for words and weights, every word keeps only its own value
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    outputs = []
    for n in range(len(all_values)):
        outputs.append(weights[n][n] * all_values[n])
    return outputs
