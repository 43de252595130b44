# what: value i for value j
# pattern: copied-line
# causes: 1
# true: values returned
# says: all_values\[i\]
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for i in range(len(all_attention_weights)):
        output = torch.zeros_like(all_values[0])
        for j in range(len(all_values)):
            output = output + all_attention_weights[i][j] * all_values[i]  # <-
        all_outputs.append(output)
    return all_outputs
