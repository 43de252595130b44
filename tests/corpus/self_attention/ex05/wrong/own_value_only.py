# wrong: every word keeps only its own value, zip over both lists at once
# named: own word only
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for n, (weights, value) in enumerate(zip(all_attention_weights, all_values)):
        outs.append(weights[n] * value)
    return outs
