# wrong: of all weighted values only the one with the largest weight is kept
# named: largest term only
def weighted_sums(all_attention_weights, all_values):
    outputs = []
    for weights in all_attention_weights:
        best = 0
        for j in range(len(weights)):
            if weights[j] > weights[best]:
                best = j
        outputs.append(weights[best] * all_values[best])
    return outputs
