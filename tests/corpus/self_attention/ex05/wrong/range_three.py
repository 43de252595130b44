# wrong: three words are hard-coded
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for w in all_attention_weights:
        outs.append(w[0] * all_values[0] + w[1] * all_values[1] + w[2] * all_values[2])
    return outs
