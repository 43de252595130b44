# wrong: the sum of each word starts from its own value instead of from zero
# named: value added
def self_attention(all_queries, all_keys, all_values):
    weights = attention_weights(attention_scores(all_queries, all_keys))
    outputs = []
    for n in range(len(all_values)):
        out = all_values[n].clone()
        for m in range(len(all_values)):
            out += weights[n][m] * all_values[m]
        outputs.append(out)
    return outputs
