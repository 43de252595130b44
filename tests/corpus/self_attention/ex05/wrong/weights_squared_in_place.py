# wrong: right sums, but the weights given are overwritten with their squares afterwards for a plot
# named: nothing
def weighted_sums(all_attention_weights, all_values):
    outs = [sum(w * v for w, v in zip(weights, all_values)) for weights in all_attention_weights]
    for weights in all_attention_weights:
        weights.pow_(2)
    return outs
