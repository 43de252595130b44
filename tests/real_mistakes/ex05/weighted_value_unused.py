# what: the product is computed, the value is added
# pattern: unused-result
# causes: 1
# true:
# says: weighted_value.*never
# false:
# follows: values without weights
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for i in range(len(all_attention_weights)):
        output_i = torch.zeros(all_values[0].shape)
        for j in range(len(all_values)):
            weighted_value = all_attention_weights[i][j] * all_values[j]
            output_i = output_i + all_values[j]  # <-
        all_outputs.append(output_i)
    return all_outputs
