# what: weight [i][i] for [i][j]
# pattern: copied-line
# causes: 1
# true:
# says: \[i\]\[i\]|own weight|same weight
# false: without weights|whatever the weights
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for i in range(len(all_attention_weights)):
        output = torch.zeros_like(all_values[0])
        for j in range(len(all_values)):
            output = output + all_attention_weights[i][i] * all_values[j]  # <-
        all_outputs.append(output)
    return all_outputs
