# what: [j][i] for [i][j]
# pattern: copied-line
# causes: 1
# true: weights transposed
# says:
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for i in range(len(all_attention_weights)):
        output = 0
        for j in range(len(all_values)):
            output = output + all_attention_weights[j][i] * all_values[j]  # <-
        all_outputs.append(output)
    return all_outputs
