# wrong: the weighted values are listed, not summed
# named: not summed
def weighted_sums(all_attention_weights, all_values):
    return [[w * v for w, v in zip(weights, all_values)] for weights in all_attention_weights]
