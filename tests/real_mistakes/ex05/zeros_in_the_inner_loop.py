# what: the zeros are made anew for each value
# pattern: overwrites
# causes: 1
# true: last term only
# says: inner loop|anew|start
# false:
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for i in range(len(all_attention_weights)):
        for j in range(len(all_values)):
            out = torch.zeros_like(all_values[j])  # <-
            out = out + all_attention_weights[i][j] * all_values[j]
        all_outputs.append(out)
    return all_outputs
