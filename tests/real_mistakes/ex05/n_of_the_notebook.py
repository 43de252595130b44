# what: sums over the notebook's N
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `N`
# false: stops before
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    for i in range(len(all_attention_weights)):
        total = 0
        for j in range(N):  # <-
            total += all_attention_weights[i][j] * all_values[j]
        all_outputs.append(total)
    return all_outputs
