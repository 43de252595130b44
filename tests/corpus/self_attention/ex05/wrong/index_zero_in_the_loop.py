# wrong: all_attention_weights[0] in the inner loop, so all words get the first one's output
# named: first query's weights
def weighted_sums(all_attention_weights, all_values):
    n_words = len(all_values)
    outputs = []
    for i in range(n_words):
        output = 0
        for j in range(n_words):
            output = output + all_attention_weights[0][j] * all_values[j]
        outputs.append(output)
    return outputs
