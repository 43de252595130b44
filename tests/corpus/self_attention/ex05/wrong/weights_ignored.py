# wrong: the plain sum of the values, not weighted
# named: values without weights
def weighted_sums(all_attention_weights, all_values):
    return [sum(all_values) for _ in all_attention_weights]
