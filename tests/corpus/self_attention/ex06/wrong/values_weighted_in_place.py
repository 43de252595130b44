# wrong: v *= w changes the values, later words are weighted twice
# named: nothing
def self_attention(all_queries, all_keys, all_values):
    outs = []
    for w in attention_weights(attention_scores(all_queries, all_keys)):
        for i in range(len(all_values)):
            all_values[i] *= w[i]
        outs.append(sum(all_values))
    return outs
