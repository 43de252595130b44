# wrong: accumulates into all_values[0] in place, so the input changes
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for weights in all_attention_weights:
        total = all_values[0]
        total *= weights[0]
        for i in range(1, len(all_values)):
            total += weights[i] * all_values[i]
        outs.append(total)
    return outs
